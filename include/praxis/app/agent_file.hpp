// Agents as TOML files: the description of `Agent` with the built-in tools it may use. A mistake is one error
// that names the file, line, key and nearest valid key. The format is published as
// `share/praxis/agent.schema.json` and described in docs/agent-file.md.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "praxis/net/http_client.hpp"
#include "praxis/policy/remembered_rules.hpp"
#include "praxis/runtime/agent.hpp"

namespace praxis {

struct AgentFileOptions {
  /// Relative paths of the file's tool roots start here; empty means the current folder.
  std::string folder;
  /// Overrides the file's model; makes an agent with a plan model-driven.
  std::optional<std::string> model;
  /// For the `http` tool.
  std::shared_ptr<HttpClient> http;
  /// Of an agent that needs a model and names none.
  std::string default_model = {};
  /// What a person allows always, by the absolute path of the agent's file; null: nothing.
  std::shared_ptr<const RememberedRules> remembered = {};
};

/// Reads an agent file and those that it names as sub-agents. Errors have code `kInput`.
Result<Agent> load_agent_file(const std::string& path, const AgentFileOptions& options = {});
/// The same from text; `name` stands for the file in errors.
Result<Agent> parse_agent_file(std::string_view text, const std::string& name,
                               const AgentFileOptions& options = {});

}  // namespace praxis
