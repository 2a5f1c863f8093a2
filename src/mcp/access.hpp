// The login of the user at an MCP server, as the connection to the server uses it.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "mcp/oauth_challenge.hpp"
#include "praxis/base/result.hpp"

namespace praxis {

/// What a logout did.
struct McpLogout {
  bool had_login = false;
  std::string still_valid;  ///< why the login may still be valid at its issuer; empty: it has ended there
};

/// Thread-safe.
class McpAccess {
 public:
  virtual ~McpAccess() = default;
  /// The token of the login; empty: none.
  virtual std::string token() = 0;
  /// The server refused a request that carried the token `refused`. On success, the request may be sent once
  /// more, with the token that there is then. Waits for servers. Error `kTool` with the kind `authorisation`:
  /// the user has to log in, with the command for it.
  virtual Status renew(const std::string& refused, const OauthChallenge& challenge,
                       const std::stop_token& stop) = 0;
  /// What a login has to bring, by the last request that was refused and not renewed. Empty: none was.
  virtual Result<std::optional<OauthChallenge>> wanted() = 0;
  /// Logs the user in. `show` gets the address that the user opens, on the calling thread. Returns the
  /// issuer.
  virtual Result<std::string> log_in(const OauthChallenge& challenge,
                                     const std::function<void(const std::string& address)>& show,
                                     const std::stop_token& stop) = 0;
  /// Ends the login at its issuer, if that offers it, and forgets it in any case. Waits for servers.
  virtual Result<McpLogout> log_out(const std::stop_token& stop) = 0;
};

}  // namespace praxis
