// Keeps what goes over the wire: the exchanges of an HTTP client as a cassette (docs/cassettes.md), without
// what is secret in them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "praxis/net/http_client.hpp"

namespace praxis {

/// The file of a cassette's folder that holds its exchanges, one JSON object a line.
inline constexpr const char* kExchangesFile = "exchanges.jsonl";

/// A client that sends through `http` and appends each exchange to FOLDER/exchanges.jsonl when it is over:
/// `{i, request: {method, url, headers, body}, response: {status, headers, kind, body}}`. The folder is made
/// when it is missing; only the user can read the file. One that failed without a response has status 0; one
/// that was cancelled is not kept, since it counts as no call. Left out are headers that say who is asking,
/// and masked, wherever they stand, are `secrets`, keys in a URL's query and ids of organisations. Error
/// `kInput`: the folder or file cannot be made. An exchange that cannot be written ends in an error
/// `kJournal`, even one that went well. Thread-safe; several clients may share a folder.
Result<std::shared_ptr<HttpClient>> recording_client(std::shared_ptr<HttpClient> http,
                                                     const std::string& folder,
                                                     std::vector<std::string> secrets);

}  // namespace praxis
