// Records the exchanges of an HTTP client as a cassette (docs/cassettes.md), without their secrets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "praxis/net/http_client.hpp"

namespace praxis {

/// File in a cassette's folder that holds its exchanges, one JSON object per line.
inline constexpr const char* kExchangesFile = "exchanges.jsonl";

/// Returns a client that sends through `http` and appends each finished exchange to FOLDER/exchanges.jsonl:
/// `{i, request: {method, url, headers, body}, response: {status, headers, kind, body}}`. Creates the folder
/// if it is missing; only the user can read the file. An exchange without a response is recorded with status
/// 0. A cancelled exchange is not recorded, because it does not count as a call. Omits headers that identify
/// the sender; masks `secrets`, keys in a URL's query, and organisation ids everywhere. Error `kInput`: the
/// folder or file cannot be created. An exchange that cannot be written fails with `kJournal`, even if it
/// succeeded. Thread-safe; several clients can share a folder.
Result<std::shared_ptr<HttpClient>> recording_client(std::shared_ptr<HttpClient> http,
                                                     const std::string& folder,
                                                     std::vector<std::string> secrets);

}  // namespace praxis
