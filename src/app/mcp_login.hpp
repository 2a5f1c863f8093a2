// The user's logins at MCP servers, in a file of the user's own. Each is bound to the address of its server
// and to its issuer.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/own_lines.hpp"
#include "mcp/access.hpp"
#include "mcp/oauth_login.hpp"

namespace praxis::app {

/// What is kept of a server. Holds secrets.
struct McpLoginEntry {
  std::string server;                      ///< its address, as written
  std::optional<OauthLogin> login;         ///< empty: the user has not logged in yet
  UnixMillis expires{};                    ///< of the access token; 0: unknown
  std::optional<OauthChallenge> wanted{};  ///< what a login has to bring; empty: nothing is missing
  std::string command{};                   ///< logs in; set with `wanted`
};

/// The file `mcp-logins.jsonl`: one JSON object per line. Safe for concurrent use by processes. Errors
/// `kInput`: the file or its folder is unsafe, unreadable, or not in this form; no error quotes the file.
class McpLogins {
 public:
  /// `folder`: the user's state folder.
  explicit McpLogins(std::string folder);

  /// The file, and the one that replaces it, which no tool may read.
  static std::vector<std::string> files_in(const std::string& folder);

  Result<std::vector<McpLoginEntry>> all() const;
  /// The entry of a server; one without login if it has no entry.
  Result<McpLoginEntry> of(const std::string& server) const;
  /// Keeps an entry in place of that of the same server. Durable on return.
  Status keep(const McpLoginEntry& entry) const;
  /// Removes the entry of a server; false if it had no login. Durable on return.
  Result<bool> remove(const std::string& server) const;

 private:
  OwnLines lines_;
};

/// How the login at one server is made and used.
struct McpLoginOptions {
  std::string server;   ///< its address
  std::string command;  ///< of the command line, logs in
  OauthIdentity identity;
  std::shared_ptr<HttpClient> http;
  std::string folder;  ///< the user's state folder
  bool use_proxy = true;
};
/// Error `kInput`: an address that is no URL.
Result<std::shared_ptr<McpAccess>> make_mcp_login(McpLoginOptions options);

}  // namespace praxis::app
