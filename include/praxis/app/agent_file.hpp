// Agents as TOML files: the description of an `Agent` with its built-in tools. An error names the file, line,
// key and nearest valid key. The format is described in docs/agent-file.md, and published as a schema in
// `share/praxis/agent.schema.json`.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "praxis/policy/remembered_rules.hpp"
#include "praxis/runtime/agent.hpp"
#include "praxis/runtime/team.hpp"

#pragma GCC visibility push(default)
namespace praxis {

class DatabaseClient;  // praxis/memory/database_client.hpp
class HttpClient;      // praxis/net/http_client.hpp
class PromptStore;     // praxis/prompts/prompt_store.hpp
struct FileBounds;     // praxis/tools/file_tool.hpp
struct McpServer;      // praxis/runtime/mcp_tools.hpp

/// What `[team]` of an agent file says. At most one of `roles`, `order` and `supervisor` is given.
struct TeamDescription {
  std::vector<Agent> members;  ///< in addition to the agent of the file itself, in the order of the file
  std::map<std::string, std::string> roles;  ///< as `route_by_role` takes them
  std::vector<std::string> order;            ///< as `route_chain` takes them
  std::optional<Agent> supervisor;           ///< as `route_by_supervisor` takes it
  bool handoff = false;                      ///< members can hand the conversation over

  /// None of them: the current agent answers.
  Strategy strategy() const;
};

/// Instructions that come with the folder in which an agent works: its `AGENTS.md` files.
struct FolderInstructions {
  std::string text;                          ///< follows the agent's own instructions; may be empty
  std::map<std::string, std::string> files;  ///< digest of each file, by its absolute path
  std::vector<std::string> warnings;         ///< which files are left out or cut, and why
};

struct AgentFileOptions {
  std::string folder;  ///< base of relative paths of the tools; empty: the current folder
  /// Replaces the file's model; an agent with a plan is then driven by the model.
  std::optional<std::string> model;
  /// Used by the `http` tool.
  std::shared_ptr<HttpClient> http;
  std::shared_ptr<class SecretBroker> secrets = {};  ///< gives the tools secrets; null: no tool gets one
  std::shared_ptr<class EditorFiles> editor = {};    ///< what an editor has open, for the file tools; or null
  /// Model for an agent that needs one but names no model.
  std::string default_model = {};
  /// The route of an agent that names no model.
  Route default_route = {};
  /// The user's remembered rules, by the absolute path of the agent file; may be null.
  std::shared_ptr<const RememberedRules> remembered = {};
  /// Rules of the user's configuration, which hold together with those of the file and of all sub-agents.
  std::vector<PolicyRules> layers = {};
  /// `[policy.redact]` of the user's configuration: the agent's results are redacted at least so much.
  Json redact = nullptr;
  /// Reads the agent file and the files that it names, given their paths; null: from disk.
  std::function<Result<std::string>(const std::string& path, std::size_t max_bytes)> read_file = {};
  /// The names of the folders in a folder, to find skills; null: from disk.
  std::function<std::vector<std::string>(const std::string& folder)> list_folders = {};
  /// The folder that the agent and its sub-agents must not reach out of, neither with the files that they
  /// name nor with the folders of their tools, also through links; relative paths of scripts and cassettes
  /// start there. Empty: no bound.
  std::string within = {};
  /// Files and folders that no tool writes, in addition to the agent files and what they name.
  std::vector<std::string> protect = {};
  /// Files and folders that no tool reads or writes.
  std::vector<std::string> hide = {};
  /// Gets what is probably a mistake, with file, line and column: a folder that does not exist, a rule about
  /// a tool that neither the agent nor a sub-agent has. Null: nothing is reported.
  std::function<void(const std::string&)> warn = {};
  /// Called with each folder (absolute) that a tool of the agent or of a sub-agent may read or write; may be
  /// null.
  std::function<void(const std::string& folder)> on_folder = {};
  /// Called with each tool whose calls may change files, and with the folders and files (absolute) that it
  /// may write; returns the tool that the agent gets. Null: the tool as it is.
  std::function<Tool(Tool tool, const std::vector<std::string>& writable, const FileBounds& bounds)>
      on_writing_tool = {};
  /// Opens the memory of agents with `[tools.memory]`; called for each. Null: such agents are refused.
  std::function<Result<std::shared_ptr<DatabaseClient>>()> memory = {};
  /// Gives the instructions of the working folder to agents with `folder_instructions`; called for each.
  /// Null: they get none.
  std::function<FolderInstructions()> folder_instructions = {};
  /// Opens the prompts of agents with `prompt`; called for each. Null: such agents are refused.
  std::function<Result<std::shared_ptr<PromptStore>>()> prompts = {};
  /// Called with each agent that was read, that of the file itself (`is_root`) last; may change it; or null.
  std::function<void(Agent& agent, bool is_root)> on_agent = {};
  /// Called with each server of `[tools.mcp]`, of the agent or of a sub-agent, before it is started; may be
  /// null.
  std::function<void(const McpServer&)> on_mcp_server = {};
  /// Called with the team that the file describes, before `on_agent` is called with the agent of the file.
  /// Null: a file with `[team]` is refused, as that of a sub-agent or of a member always is.
  std::function<void(TeamDescription)> on_team = {};
};

/// Reads an agent file and the files of its sub-agents. Errors have code `kInput`.
Result<Agent> load_agent_file(const std::string& path, const AgentFileOptions& options = {});
/// Parses the text of an agent file; `name` stands for the file in errors.
Result<Agent> parse_agent_file(std::string_view text, const std::string& name,
                               const AgentFileOptions& options = {});
/// A team of `own`, which answers first, and of the members of `description`. Null: the default runtime.
/// Error `kInput`: an agent has a tool with the name of one that hands over.
Result<Team> make_team(Agent own, const TeamDescription& description, std::shared_ptr<Runtime> runtime);
/// Reads an agent file and the team that it describes; one without `[team]` is a team of one agent. Null: the
/// default runtime. Errors have code `kInput`.
Result<Team> load_team_file(const std::string& path, std::shared_ptr<Runtime> runtime = nullptr,
                            AgentFileOptions options = {});

}  // namespace praxis
#pragma GCC visibility pop
