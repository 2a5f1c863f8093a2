// A planner turns a session's state into the next step. Pure: the same state always gives the same plan. A
// planner that needs a model or other I/O requests it as an effect and finds the result in the state.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "praxis/core/state.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Calls the model. Its answer, once it calls no tool, is `TurnState::answer`.
struct AskModel {};
/// Calls these tools, as if the model had; `text` says why.
struct UseTools {
  std::string text;
  std::vector<ToolCallPart> calls;
};
/// Adds a message to the conversation and plans again.
struct AddMessage {
  std::string text;
};
struct AskPerson {
  std::string prompt;
};
/// Asks the model a side query, outside the conversation; the answer is a result of the plan.
struct Consult {
  Consultation question;
};
struct Sleep {
  Millis delay{0};
};
struct Conclude {
  StopReason reason = StopReason::kFinished;
  std::string text;
  std::optional<Error> error;
};
/// One step of a plan; a step may hold a batch of calls (S3-36).
using PlanStep = std::variant<AskModel, UseTools, AddMessage, AskPerson, Consult, Sleep, Conclude>;

/// Implementations are immutable and thread-safe.
class Planner {
 public:
  virtual ~Planner() = default;
  /// Called when no effect is in flight, no call is open and no limit is reached.
  virtual PlanStep plan(const State& state) const = 0;
  /// Returns open calls that are obsolete because a command has changed the request and the conversation does
  /// not have the change yet; these calls are stopped. Called while a turn is in progress.
  virtual std::vector<CallId> outdated(const State& /*state*/) const { return {}; }
};

}  // namespace praxis
#pragma GCC visibility pop
