// The decisions of a `SixStepPlanner`, one function a step. Each says what its step still has to do, or
// nothing when it is done; they are asked in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "praxis/core/planner.hpp"

namespace praxis::six_steps {

/// Purposes of the consultations.
inline constexpr std::string_view kClarify = "clarify";
inline constexpr std::string_view kSubQuestions = "sub_questions";
inline constexpr std::string_view kConclude = "conclude";
/// The tool that works on sub-questions; an agent without it has none.
inline constexpr std::string_view kFork = "fork";

// Bounds on one turn, however often a person changes the request.
inline constexpr std::size_t kMaxQuestions = 3;  ///< to the person, before the work begins
inline constexpr std::size_t kMaxClarifications = 6;
inline constexpr std::int64_t kMaxSubQuestions = 4;  ///< at once
inline constexpr std::size_t kMaxDivisions = 3;

/// What a turn has come to. Refers to the state.
struct Progress {
  const State& state;
  std::span<const StepResult> all;      ///< results of the turn
  std::span<const StepResult> current;  ///< those for the request as it stands now
};

/// Step 5, which comes before all others: a change of the request makes what was found for the old one void,
/// so that the steps begin again. Blocks nothing while nobody changes anything.
Progress progress_of(const State& state);

/// Steps 1 and 2: has the model say whether the request is ambiguous, and the person answer while it is. A
/// person who declines ends the turn, with what was missing as its result.
std::optional<PlanStep> clarify(const Progress& progress);
/// Step 3: has the model name what can be looked into separately.
std::optional<PlanStep> find_sub_questions(const Progress& progress);
/// Step 4, first half: sub-agents work on the sub-questions, all at once.
std::optional<PlanStep> work_on_sub_questions(const Progress& progress);
/// The calls of that which are not settled.
std::vector<CallId> open_sub_questions(const State& state);
/// Step 4, second half: the model works on the request, with its tools and what the sub-agents found.
std::optional<PlanStep> work_on_request(const Progress& progress);
/// Step 6: the model sums up and may have one last question. Always has something to do.
PlanStep conclude(const Progress& progress);

}  // namespace praxis::six_steps
