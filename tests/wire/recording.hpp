// Recorded exchanges with model endpoints as stored on disk: one folder per case; its `exchanges.jsonl` has a
// line `{i, request: {method, url, headers, body}, response: {status, headers, kind, body}}` per exchange.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "praxis/json/json.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis::wire {

struct RecordedRequest {
  std::string url;
  Json body;  ///< null if it was not recorded
};

struct RecordedResponse {
  HttpResponseHead head;
  std::string kind;  ///< `sse`, `ndjson`, `json`
  std::string body;

  bool is_stream() const { return kind == "sse" || kind == "ndjson"; }
};

struct Exchange {
  std::int64_t i = 0;
  RecordedRequest request;
  RecordedResponse response;
};

struct Case {
  std::filesystem::path folder;
  std::vector<Exchange> exchanges;

  /// Name of the parent folder, which is the provider's.
  std::string provider_folder() const { return folder.parent_path().filename().string(); }
};

/// Returns the normalised absolute path, without a trailing slash.
std::filesystem::path absolute_path(const std::filesystem::path& folder);

/// Returns the case folders at or below `folder`, sorted by path.
std::vector<std::filesystem::path> find_cases(const std::filesystem::path& folder);

/// Reads a case; missing fields take defaults. Error `kInput`: the file cannot be read, or a line is not a
/// JSON object.
Result<Case> read_case(const std::filesystem::path& folder);

/// Returns the JSON values of a file with one value per line. Error as above.
Result<std::vector<Json>> read_json_lines(const std::filesystem::path& file);

}  // namespace praxis::wire
