// The tools of an MCP server as tools of an agent: each call is an effect like any other, judged by the
// rules, recorded before and after, and parked when a crash leaves it in doubt.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "praxis/mcp/mcp_client.hpp"
#include "praxis/runtime/agent.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// What is accepted of the tools of one server: their descriptions and arguments, which a model obeys.
/// Thread-safe.
class McpAcceptance {
 public:
  virtual ~McpAcceptance() = default;
  /// Accepts the listed tools that it has never seen. Returns by name those that differ from what was
  /// accepted, as they were accepted: a tool is offered in that form, and each call waits for an approval.
  virtual Result<std::map<std::string, McpTool>> changed(const std::vector<McpTool>& listed) = 0;
  /// Accepts these tools as they are.
  virtual Status accept(const std::vector<McpTool>& tools) = 0;
};

/// How an agent uses the tools of a server. Patterns are names as the server knows them; `*` at the end
/// stands for any ending.
struct McpToolOptions {
  /// Name of the server, whose tools are called `SERVER__TOOL`. Letters, digits, single `_` and `-`.
  std::string server;
  std::vector<std::string> only;  ///< the tools that the agent gets; empty: all
  /// Tools whose calls may be repeated after a crash. What the server says of that is not trusted.
  std::vector<std::string> idempotent;
  Millis timeout{60'000};  ///< of one call
  /// Whether a person decides about each model's answer that the server asks for
  /// (`McpBounds::gives_samples`).
  bool asks_before_samples = true;
  std::shared_ptr<McpAcceptance> acceptance = nullptr;  ///< null: every description is accepted
};

/// A server and how an agent uses it.
struct McpServer {
  std::shared_ptr<McpClient> client;
  McpToolOptions options;
  std::shared_ptr<class McpAccess> access = nullptr;  ///< the user's login; null: none is possible
};

/// How the names of a server's tools begin: `SERVER__`.
std::string mcp_prefix(const std::string& server);
/// Error `kInput`: not a name for a server.
Status check_mcp_name(const std::string& server);

/// The tools that an agent gets of a list, and the others with the reason.
struct McpOffer {
  std::vector<Tool> tools;
  std::vector<std::string> changed;  ///< names of those that are offered in their accepted form
  std::vector<McpLeftOut> left_out;
};
/// Makes tools from a list. Names are changed to what models accept, at most 64 characters; a tool that has
/// the name of a built-in tool, or whose full name could be taken for one, is left out. No tool is safe by
/// default. Error: that of the acceptance.
Result<McpOffer> offer_mcp_tools(const McpServer& server, const McpToolList& list);

/// For `Agent::tools_from`: the tools that the server has now. Throws `std::runtime_error` when the server
/// cannot be reached, which the event `hook.failed` reports.
ToolSource mcp_tools(McpServer server);
/// For `Agent::prompts_from`: the prompts of the server whose names have no blanks.
std::shared_ptr<PromptSource> mcp_prompts(McpServer server);

}  // namespace praxis
#pragma GCC visibility pop
