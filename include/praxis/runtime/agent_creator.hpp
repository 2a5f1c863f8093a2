// Creates agents through one interface, both at the root and inside a tool call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "praxis/runtime/agent.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Creates sessions: roots by default, or sub-agents of a call if constructed from its context. Thread-safe.
/// After that call has ended, every further use fails with `kInput`.
class AgentCreator {
 public:
  /// Creates roots in `runtime` (null: the default one).
  explicit AgentCreator(std::shared_ptr<Runtime> runtime = nullptr);
  /// Creates sub-agents of the call that `context` belongs to.
  explicit AgentCreator(const ToolContext& context);

  /// A session with a new agent. `model` as in `Agent`.
  Result<Session> create(std::string model, std::string system_prompt, std::vector<Tool> tools) const;
  /// The same with the caller's model; for a root, the model in the environment variable `PRAXIS_MODEL`.
  Result<Session> create_with_default_model(std::string system_prompt, std::vector<Tool> tools) const;
  /// A session with the given agent.
  Result<Session> create(const Agent& agent) const;

 private:
  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<CallScope> scope_;  ///< null for roots
};

}  // namespace praxis
#pragma GCC visibility pop
