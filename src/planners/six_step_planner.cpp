#include "praxis/planners/six_step_planner.hpp"

#include "planners/six_steps.hpp"

namespace praxis {
namespace {

constexpr std::string_view kKind = "six_steps";

}  // namespace

Result<SixStepPlanner> SixStepPlanner::parse(const Json& plan) {
  const std::string kind = json_string(plan, "kind");
  if (kind != kKind) {
    return fail(ErrorCode::kInput, "unknown kind of plan \"" + kind +
                                       "\"; write \"six_steps\", \"reflect\" or an array of steps");
  }
  for (const auto& [key, value] : plan.get_object()) {
    if (key != "kind")
      return fail(ErrorCode::kInput, "a plan of six steps has no key \"" + std::string(key) + '"');
  }
  return SixStepPlanner{};
}

PlanStep SixStepPlanner::plan(const PlannerState& state) const {
  if (state.conversation().messages().empty()) {
    return Conclude{StopReason::kPlanFailed,
                    {},
                    make_error(ErrorCode::kInput, "six steps need a request, and nothing was said")};
  }
  const six_steps::Progress progress = six_steps::progress_of(state);
  for (const auto step : {six_steps::clarify, six_steps::find_sub_questions, six_steps::work_on_sub_questions,
                          six_steps::work_on_request}) {
    if (auto todo = step(progress)) return *std::move(todo);
  }
  return six_steps::conclude(progress);
}

std::vector<CallId> SixStepPlanner::outdated(const PlannerState& state) const {
  return state.request_changes() ? six_steps::open_sub_questions(state) : std::vector<CallId>{};
}

}  // namespace praxis
