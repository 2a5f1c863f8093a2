// What a server says when it refuses a request for lack of a login: the `Bearer` challenge of
// `WWW-Authenticate` (RFC 6750, RFC 9728).
#pragma once

#include <optional>
#include <string>

#include "praxis/net/http_client.hpp"

namespace praxis {

/// Foreign text, bounded but not checked.
struct OauthChallenge {
  int status = 0;             ///< 401: a login is missing or has ended; 403: it allows too little
  std::string metadata = {};  ///< where the metadata of the resource is; empty: the server does not say
  std::string scope = {};     ///< what the request needs, separated by blanks; empty: the server does not say
};

/// The challenge of an answer. `std::nullopt`: a login would not help.
std::optional<OauthChallenge> read_challenge(int status, const HttpHeaders& headers);

}  // namespace praxis
