// A planner turns a session's state into the next thing to do. Pure: the same state always gives the same
// plan. One that needs a model or other I/O asks for it as an effect and finds the answer in the state.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "praxis/core/state.hpp"

namespace praxis {

/// Let the model say what comes next. Its answer, once it calls no tool, is `TurnState::answer`.
struct AskModel {};
/// Call these tools, as if a model had asked for them; `text` says why.
struct UseTools {
  std::string text;
  std::vector<ToolCallPart> calls;
};
/// Put a message into the conversation and plan again.
struct AddMessage {
  std::string text;
};
struct AskPerson {
  std::string prompt;
};
/// Ask the model something beside the conversation; the answer is a result of the plan.
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
/// One step of a plan (S3-36; a step may carry a batch of calls).
using PlanStep = std::variant<AskModel, UseTools, AddMessage, AskPerson, Consult, Sleep, Conclude>;

/// Implementations are immutable and thread-safe.
class Planner {
 public:
  virtual ~Planner() = default;
  /// Called when nothing is in flight, no call is open and no limit is reached.
  virtual PlanStep plan(const State& state) const = 0;
  /// Open calls that a person's change of the request, which the conversation does not have yet, has made
  /// pointless: they are told to stop. Called while a turn is in progress.
  virtual std::vector<CallId> outdated(const State& /*state*/) const { return {}; }
};

}  // namespace praxis
