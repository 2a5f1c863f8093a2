// Making agents with one function that works at the root and inside a tool call alike.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "praxis/runtime/agent.hpp"

namespace praxis {

/// Makes sessions: roots by default, sub-agents of a call when it was made from its context. Thread-safe.
/// Once that call is over every further use is an error of code `kInput`.
class AgentCreator {
 public:
  /// Roots, in `runtime` (null: the default one).
  explicit AgentCreator(std::shared_ptr<Runtime> runtime = nullptr);
  /// Sub-agents of the call that `context` belongs to.
  explicit AgentCreator(const ToolContext& context);

  /// A session with an agent of its own. `model` as in `Agent`.
  Result<Session> create(std::string model, std::string system_prompt, std::vector<Tool> tools) const;
  /// The same with the caller's model; for a root that of the environment variable `PRAXIS_MODEL`.
  Result<Session> create_with_default_model(std::string system_prompt, std::vector<Tool> tools) const;
  /// A session with all that `agent` says.
  Result<Session> create(const Agent& agent) const;

 private:
  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<CallScope> scope_;  ///< null for roots
};

}  // namespace praxis
