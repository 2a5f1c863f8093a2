// Clarifies a request before working on it: six steps with a model, questions to the user where only the user
// can answer, and sub-agents for sub-questions that can be researched separately. docs/six-steps.md describes
// the steps. The planner stores no position: it derives it from the results in the state.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/core/planner.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Bounds and prompts of the six steps. The bounds hold for a turn, however often the user changes the
/// request.
struct SixSteps {
  std::uint32_t clarify_rounds = 3;      ///< questions to the user because the request is ambiguous
  std::uint32_t information_rounds = 3;  ///< questions because critical information is missing
  std::uint32_t sub_questions = 4;       ///< worked on at the same time
  /// Whether a copy of the agent works on the request itself while others work on the sub-questions.
  bool main_work = true;
  // What the model is asked; empty: the built-in text.
  std::string clarify_prompt = {};
  std::string information_prompt = {};
  std::string sub_questions_prompt = {};
  std::string main_work_prompt = {};  ///< the list of sub-questions follows it
  std::string conclude_prompt = {};
};
/// The plan for `Agent::plan`, with every bound spelled out.
Json six_steps_plan(const SixSteps& settings = {});

/// Immutable and thread-safe.
class SixStepPlanner final : public Planner {
 public:
  /// Reads a plan (`AgentSpec::plan`): `{"kind": "six_steps", ...}` with the members of `SixSteps`. Without
  /// `information_rounds` and `main_work` there is no second decision and no copy for the request itself, as
  /// in journals written before there were settings. Error `kInput` names the invalid key.
  static Result<SixStepPlanner> parse(const Json& plan);

  /// Returns the first of the six steps that is not done. A turn without any message concludes with
  /// `kPlanFailed`.
  PlanStep plan(const PlannerState& state) const override;
  /// The open calls of sub-agents on sub-questions, if the request was modified after they were asked; else
  /// empty.
  std::vector<CallId> outdated(const PlannerState& state) const override;

 private:
  explicit SixStepPlanner(SixSteps settings) : settings_(std::move(settings)) {}

  SixSteps settings_;
};

}  // namespace praxis
#pragma GCC visibility pop
