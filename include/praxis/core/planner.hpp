// Strategies that decide what a session does next. A planner turns a view of the session into the next step;
// a reflector looks at the result of each step before the next one is planned. Both are pure: the same view
// always gives the same step, also after a crash and in a replay. A strategy that needs a model or other I/O
// requests it as a step and finds the result in the view.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/core/history.hpp"
#include "praxis/core/records.hpp"
#include "praxis/core/session_memory.hpp"
#include "praxis/core/step_result.hpp"

#pragma GCC visibility push(default)
namespace praxis {

struct State;  // praxis/core/state.hpp

/// Calls the model. Its answer, once it calls no tool, is the result `answer`.
struct AskModel {};
/// Calls these tools, as if the model had; `text` says why. A call without an id gets one.
struct UseTools {
  std::string text;
  std::vector<ToolCallPart> calls;
};
/// Adds a message to the conversation and plans again. A message of the user's role asks the model for
/// another answer; other roles than `kAssistant` and `kUser` count as `kAssistant`.
struct AddMessage {
  std::string text;
  Role role = Role::kAssistant;
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
/// Ends the turn. An empty `text` is the last message of the assistant.
struct Conclude {
  StopReason reason = StopReason::kFinished;
  std::string text;
  std::optional<Error> error;
};
/// One step of a plan; a step may hold a batch of calls (S3-36).
using PlanStep = std::variant<AskModel, UseTools, AddMessage, AskPerson, Consult, Sleep, Conclude>;

/// Returns the step that calls one tool.
UseTools use_tool(std::string name, const Json& arguments);

/// What the limits of the turn leave; `std::nullopt` where there is no limit.
struct RemainingBudget {
  std::optional<std::uint32_t> steps;
  std::optional<std::uint32_t> tool_calls;
  std::optional<std::int64_t> tokens;
  std::optional<MicroUsd> cost;
};

/// What planners and reflectors see of a session while a turn is in progress. Refers to the session's state:
/// valid during the call only. New versions may add to it but keep what it has.
class PlannerState {
 public:
  explicit PlannerState(const State& state) : state_(state) {}

  const SessionId& session() const;
  const TurnId& turn() const;
  /// Number of steps that the turn has taken.
  std::uint32_t step() const;
  /// The text of the message that began the turn.
  const std::string& prompt() const;
  /// What the user asks for: the prompt, or what a command made of it since.
  const std::string& request() const;
  /// The conversation as the model sees it.
  const History& conversation() const;
  /// The results of all steps of the turn.
  std::span<const StepResult> results() const;
  /// Those since the request was changed last.
  std::span<const StepResult> results_for_request() const;
  /// The model's last answer, unless a message to the model has followed.
  const std::optional<Answer>& answer() const;
  /// The description of the agent: its tools, limits, rules and metadata.
  const AgentSpec& agent() const;
  RemainingBudget budget() const;
  /// The notes of the session under this name, such as `kv`.
  const MemoryStore& memory(std::string_view store) const;
  /// The calls that are not settled, without those that a handler made. Empty when a step is planned.
  std::vector<CallId> open_calls() const;
  /// Whether a command changed the request, and the conversation does not have the change yet.
  bool request_changes() const;

 private:
  const State& state_;
};

/// Decides the steps of a turn. Implementations are immutable, thread-safe and free of side effects.
class Planner {
 public:
  virtual ~Planner() = default;
  /// Called when no effect is in flight, no call is open and no limit is reached. An exception ends the turn
  /// with `kPlanFailed`.
  virtual PlanStep plan(const PlannerState& state) const = 0;
  /// Returns open calls that are obsolete because a command has changed the request and the conversation does
  /// not have the change yet; these calls are stopped. Called while a turn is in progress.
  virtual std::vector<CallId> outdated(const PlannerState& /*state*/) const { return {}; }
};

/// Looks at the results of a turn: the phase after acting. Implementations are immutable, thread-safe and
/// free of side effects.
class Reflector {
 public:
  virtual ~Reflector() = default;
  /// Called before each step but the first. Returns what to do instead of planning on: a note for the model,
  /// a side query, a question to the user, the end of the turn; `std::nullopt`: the planner continues. An
  /// exception ends the turn with `kPlanFailed`.
  virtual std::optional<PlanStep> reflect(const PlannerState& state) const = 0;
};

}  // namespace praxis
#pragma GCC visibility pop
