// What the user has accepted of the tools of MCP servers: how each describes itself and its arguments. A
// description is text that a model obeys, so one that changes later is not passed on unseen.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/own_lines.hpp"
#include "praxis/runtime/mcp_tools.hpp"

namespace praxis::app {

/// The accepted tools of one server, in a file. Safe for concurrent use by processes. Errors `kInput`: the
/// file cannot be read or written.
class McpPins final : public McpAcceptance {
 public:
  /// `folder`: the user's state folder. `server` tells the server from others: its program with arguments, or
  /// its address.
  McpPins(std::string folder, std::string server);

  Result<std::map<std::string, McpTool>> changed(const std::vector<McpTool>& listed) override;
  Status accept(const std::vector<McpTool>& tools) override;

 private:
  OwnLines lines_;
  std::string server_;
};

}  // namespace praxis::app
