// The decisions of a `SixStepPlanner`, one function for each step. Each returns what its step still has to
// do, or `std::nullopt` when it is done; the planner calls them in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "praxis/core/planner.hpp"
#include "praxis/planners/six_step_planner.hpp"

namespace praxis::six_steps {

/// Purposes of the side queries to the model.
inline constexpr std::string_view kClarify = "clarify";
inline constexpr std::string_view kInformation = "information";
inline constexpr std::string_view kSubQuestions = "sub_questions";
inline constexpr std::string_view kConclude = "conclude";
/// The tool that works on sub-questions; an agent without it gets no sub-questions.
inline constexpr std::string_view kFork = "fork";

/// How often one turn asks for sub-questions, however often the user changes the request.
inline constexpr std::size_t kMaxDivisions = 3;

/// The progress of a turn. Refers to the state and the settings.
struct Progress {
  const SixSteps& settings;
  PlannerState state;
  std::span<const StepResult> all;      ///< results of the turn
  std::span<const StepResult> current;  ///< results since the request was last changed
};

/// Step 5, which comes before all others: a change of the request invalidates the results for the old one, so
/// the steps begin again. Blocks nothing while the request is unchanged.
Progress progress_of(const PlannerState& state, const SixSteps& settings);

/// Step 1: asks the model whether the request is ambiguous, and the user while it is. If the user declines,
/// ends the turn with the missing information as its result.
std::optional<PlanStep> clarify(const Progress& progress);
/// Step 2: the same about critical information that is missing, with bounds of its own.
std::optional<PlanStep> complete(const Progress& progress);
/// Step 3: asks the model for sub-questions that can be researched separately.
std::optional<PlanStep> find_sub_questions(const Progress& progress);
/// Step 4, first half: sub-agents work on all sub-questions, and one on the request itself, in parallel.
std::optional<PlanStep> work_in_parallel(const Progress& progress);
/// Returns the calls of sub-agents on sub-questions that are not settled.
std::vector<CallId> open_sub_questions(const PlannerState& state);
/// Step 4, second half: the model completes the work, with its tools and the findings of the sub-agents.
std::optional<PlanStep> work_on_request(const Progress& progress);
/// Step 6: the model summarises and may ask one last question. Always returns a step.
PlanStep conclude(const Progress& progress);

}  // namespace praxis::six_steps
