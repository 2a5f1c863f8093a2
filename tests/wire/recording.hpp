// Recorded exchanges with model endpoints, as they lie on disk: a folder a case, in it `exchanges.jsonl` with
// one
// `{i, request: {method, url, headers, body}, response: {status, headers, kind, body}}` a line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "praxis/json/json.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis::wire {

struct RecordedRequest {
  std::string url;
  Json body;  ///< null when it was not recorded
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

  /// The folder above, named after the provider.
  std::string provider_folder() const { return folder.parent_path().filename().string(); }
};

/// Normal, and without a slash at its end.
std::filesystem::path absolute_path(const std::filesystem::path& folder);

/// The case folders at or below `folder`, sorted by path.
std::vector<std::filesystem::path> find_cases(const std::filesystem::path& folder);

/// Reads a case; what is missing in a line takes a default. Error `kInput`: the file cannot be read, or a
/// line is no JSON object.
Result<Case> read_case(const std::filesystem::path& folder);

/// The JSON values of a file of lines. Error as above.
Result<std::vector<Json>> read_json_lines(const std::filesystem::path& file);

}  // namespace praxis::wire
