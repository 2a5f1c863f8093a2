#include "praxis/planners/six_step_planner.hpp"

#include <array>

#include "planners/plan_settings.hpp"
#include "planners/six_steps.hpp"

namespace praxis {
namespace {

constexpr std::string_view kKind = "six_steps";
constexpr std::array<std::pair<std::string_view, std::string SixSteps::*>, 5> kPrompts{
    {{"clarify_prompt", &SixSteps::clarify_prompt},
     {"information_prompt", &SixSteps::information_prompt},
     {"sub_questions_prompt", &SixSteps::sub_questions_prompt},
     {"main_work_prompt", &SixSteps::main_work_prompt},
     {"conclude_prompt", &SixSteps::conclude_prompt}}};

}  // namespace

Result<SixStepPlanner> SixStepPlanner::parse(const Json& plan) {
  const std::string kind = json_string(plan, "kind");
  if (kind != kKind) {
    return fail(ErrorCode::kInput, "unknown kind of plan \"" + kind +
                                       "\"; write \"six_steps\", \"reflect\" or an array of steps");
  }
  SixSteps settings{.information_rounds = 0, .main_work = false};
  PlanSettings read(plan);
  read.number("clarify_rounds", settings.clarify_rounds);
  read.number("information_rounds", settings.information_rounds);
  read.number("sub_questions", settings.sub_questions);
  read.flag("main_work", settings.main_work);
  for (const auto& [key, prompt] : kPrompts) read.text(std::string(key), settings.*prompt);
  if (auto valid = read.finish(); !valid) return fail(valid.error());
  return SixStepPlanner(std::move(settings));
}

Json six_steps_plan(const SixSteps& settings) {
  JsonObject plan{{"kind", kKind},
                  {"clarify_rounds", std::int64_t{settings.clarify_rounds}},
                  {"information_rounds", std::int64_t{settings.information_rounds}},
                  {"sub_questions", std::int64_t{settings.sub_questions}},
                  {"main_work", settings.main_work}};
  for (const auto& [key, prompt] : kPrompts) {
    if (!(settings.*prompt).empty()) plan[key] = settings.*prompt;
  }
  return plan;
}

PlanStep SixStepPlanner::plan(const PlannerState& state) const {
  if (state.conversation().messages().empty()) {
    return Conclude{StopReason::kPlanFailed,
                    {},
                    make_error(ErrorCode::kInput, "six steps need a request, and nothing was said")};
  }
  const six_steps::Progress progress = six_steps::progress_of(state, settings_);
  for (const auto step : {six_steps::clarify, six_steps::complete, six_steps::find_sub_questions,
                          six_steps::work_in_parallel, six_steps::work_on_request}) {
    if (auto todo = step(progress)) return *std::move(todo);
  }
  return six_steps::conclude(progress);
}

std::vector<CallId> SixStepPlanner::outdated(const PlannerState& state) const {
  return state.request_changes() ? six_steps::open_sub_questions(state) : std::vector<CallId>{};
}

}  // namespace praxis
