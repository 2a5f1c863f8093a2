// A server as other MCP clients describe it, in a file with `mcpServers` such as `.mcp.json`.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/result.hpp"

namespace praxis::app {

/// How a server is reached: a program or an address.
struct McpEntry {
  std::vector<std::string> command = {};  ///< program and arguments; empty: `url`
  std::map<std::string, std::string> environment = {};
  std::string url = {};
  std::string token = {};  ///< a bearer token for `url`; empty: none
};

/// The value of an environment variable; nothing if it is not set.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;

/// The server `name` of a file's text. `${NAME}` and `${NAME:-OTHERWISE}` are replaced in the values of `env`
/// and `headers` only, since other users can see arguments and servers log addresses. What other clients may
/// do without asking, such as `alwaysAllow`, is not read. Error `kInput`: not such a file, no such server, or
/// one that cannot be reached as the file says.
Result<McpEntry> read_mcp_entry(std::string_view text, const std::string& name, const Variables& variables);

}  // namespace praxis::app
