// Records the exchanges of an HTTP client as a cassette (docs/cassettes.md), without their secrets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "praxis/net/http_client.hpp"

namespace praxis {

/// File in a cassette's folder that holds its exchanges, one JSON object per line.
inline constexpr const char* kExchangesFile = "exchanges.jsonl";

/// What a recording omits, in addition to headers whose names say that they identify the sender.
struct RecordingPrivacy {
  std::vector<std::string> secrets;  ///< masked everywhere, in each form that `Redactor` knows
  std::vector<std::string> headers;  ///< names, in any case, of request headers that are left out
};

/// Returns a client that sends through `http` and appends each finished exchange to FOLDER/exchanges.jsonl:
/// `{i, request: {method, url, headers, body}, response: {status, headers, kind, body}}`. Creates the folder
/// if it is missing; only the user can enter it and read the file. An exchange without a response is recorded
/// with status 0. A cancelled exchange is not recorded, because it does not count as a call. Omits the
/// headers of `privacy` and those whose names say that they identify the sender; masks keys in a URL's query
/// and organisation ids. Error `kInput`: the folder or file cannot be created, or the file is a link or no
/// regular file. An exchange that cannot be written fails with `kJournal`, even if it succeeded. Thread-safe;
/// several clients can share a folder.
Result<std::shared_ptr<HttpClient>> recording_client(std::shared_ptr<HttpClient> http,
                                                     const std::string& folder, RecordingPrivacy privacy);

}  // namespace praxis
