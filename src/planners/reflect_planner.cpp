#include "praxis/planners/reflect_planner.hpp"

#include <algorithm>
#include <utility>

#include "planners/plan_settings.hpp"
#include "praxis/planners/model_planner.hpp"

namespace praxis {
namespace {

constexpr const char* kReview = "reflect";
constexpr const char* kReviewPrompt =
    "Do not work on the request yet. Review what you have done so far: does it meet the request, completely "
    "and "
    "correctly, and does it follow from the results that you have? If it does, say that it is done. "
    "Otherwise say "
    "in one short note what has to be done differently.";

Consult ask_for_review(const std::string& prompt) {
  const Json schema = JsonObject{{"type", "object"},
                                 {"properties", JsonObject{{"done", JsonObject{{"type", "boolean"}}},
                                                           {"note", JsonObject{{"type", "string"}}}}},
                                 {"required", JsonArray{"done", "note"}},
                                 {"additionalProperties", false}};
  return Consult{{kReview, prompt.empty() ? kReviewPrompt : prompt, schema}};
}

bool is_review(const StepResult& result) { return result.call.empty() && result.tool == kReview; }

}  // namespace

ReflectPlanner::ReflectPlanner(std::shared_ptr<const Planner> planner,
                               std::shared_ptr<const Reflector> reflector)
    : planner_(std::move(planner)), reflector_(std::move(reflector)) {}

Result<ReflectPlanner> ReflectPlanner::parse(const Json& plan) {
  PlanSettings read(plan);
  SelfReview::Settings settings;
  read.number("rounds", settings.rounds);
  read.flag("after_each_batch", settings.after_each_batch);
  read.text("prompt", settings.prompt);
  if (auto valid = read.finish(); !valid) return fail(valid.error());
  return ReflectPlanner(std::make_shared<const ModelPlanner>(),
                        std::make_shared<const SelfReview>(std::move(settings)));
}

PlanStep ReflectPlanner::plan(const PlannerState& state) const {
  if (!state.results().empty()) {
    if (auto step = reflector_->reflect(state)) return *std::move(step);
  }
  return planner_->plan(state);
}

std::vector<CallId> ReflectPlanner::outdated(const PlannerState& state) const {
  return planner_->outdated(state);
}

std::optional<PlanStep> SelfReview::reflect(const PlannerState& state) const {
  const auto results = state.results_for_request();
  if (results.empty()) return std::nullopt;
  const StepResult& last = results.back();
  if (is_review(last)) {
    const std::string note = json_string(last.value, "note");
    if (!last.ok || json_bool(last.value, "done") || note.empty()) return std::nullopt;
    return AddMessage{"Review: " + note, Role::kUser};
  }
  const bool answered = last.call.empty() && last.tool == "answer";
  const bool due = answered || (settings_.after_each_batch && !last.call.empty());
  const auto reviews = std::ranges::count_if(state.results(), is_review);
  if (!due || std::cmp_greater_equal(reviews, settings_.rounds)) return std::nullopt;
  return ask_for_review(settings_.prompt);
}

}  // namespace praxis
