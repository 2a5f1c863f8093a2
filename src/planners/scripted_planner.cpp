#include "praxis/planners/scripted_planner.hpp"

#include <span>
#include <utility>

#include "planners/written_step.hpp"

namespace praxis {
namespace {

/// Upper bound of the elements of one `for_each`; more is a mistake or an attack.
constexpr std::size_t kMaxElements = 1'000;

/// Walks a plan along the results of its steps.
class Walk {
 public:
  explicit Walk(const PlannerState& state)
      : results_(state.results()), scope_(JsonObject{{"prompt", state.prompt()}, {"steps", JsonObject{}}}) {}

  PlanStep along(const std::vector<WrittenStep>& steps) {
    for (const WrittenStep& step : steps) {
      auto next = pass(step);
      if (!next) {
        Error error = next.error();
        error.message = "plan step \"" + step.id + "\": " + error.message;
        return Conclude{StopReason::kPlanFailed, {}, std::move(error)};
      }
      if (*next) return **std::move(next);
    }
    return Conclude{StopReason::kFinished, last_text_, std::nullopt};
  }

 private:
  using Todo = Result<PlanStep>;

  /// Returns what `step` has to do; `std::nullopt` if it is done or skipped.
  Result<std::optional<PlanStep>> pass(const WrittenStep& step) {
    if (step.when) {
      const auto wanted = holds(*step.when, scope_);
      if (!wanted) return fail(wanted.error());
      if (!*wanted) return std::nullopt;
    }
    auto todo = std::visit([&](const auto& verb) { return prepare(step.id, verb); }, step.verb);
    if (!todo) return fail(todo.error());
    const auto* batch = std::get_if<UseTools>(&*todo);
    const std::size_t count = batch ? batch->calls.size() : 1;
    if (std::holds_alternative<Conclude>(*todo) || results_.size() < count) return *std::move(todo);
    if (auto noted = note(step, results_.first(count)); !noted) return fail(noted.error());
    results_ = results_.subspan(count);
    return std::nullopt;
  }

  /// Makes the results of a step available to later steps.
  Status note(const WrittenStep& step, std::span<const StepResult> results) {
    bool ok = true;
    std::string text;
    JsonArray values;
    for (const StepResult& result : results) {
      if (!result.ok && !step.continue_on_error) {
        return fail(ErrorCode::kTool, result.tool + " failed: " + result.text);
      }
      ok = ok && result.ok;
      if (!values.empty()) text += '\n';
      text += result.text;
      values.push_back(result.value);
    }
    const auto* one = std::get_if<CallOne>(&step.verb);
    const bool is_batch =
        std::holds_alternative<CallAll>(step.verb) || (one != nullptr && !one->for_each.is_null());
    Json value = is_batch ? Json(std::move(values)) : std::move(values.front());
    scope_.get_object()["steps"].get_object()[step.id] =
        JsonObject{{"ok", ok}, {"text", text}, {"value", std::move(value)}};
    last_text_ = std::move(text);
    return {};
  }

  Todo prepare(const std::string& id, const CallOne& one) {
    UseTools batch;
    if (one.for_each.is_null()) {
      if (auto added = add_call(batch, id, one.call); !added) return fail(added.error());
      return batch;
    }
    const auto elements = fill(one.for_each, scope_);
    if (!elements) return fail(elements.error());
    const auto* items = elements->if_array();
    if (items == nullptr) return fail(ErrorCode::kInput, "\"for_each\" needs an array");
    if (items->size() > kMaxElements) {
      return fail(ErrorCode::kInput, "\"for_each\" is given " + std::to_string(items->size()) +
                                         " elements; at most " + std::to_string(kMaxElements) +
                                         " are allowed");
    }
    for (const Json& item : *items) {
      const std::size_t index = batch.calls.size();
      scope_.get_object()["item"] = item;
      scope_.get_object()["index"] = index;
      if (auto added = add_call(batch, numbered(id, index), one.call); !added) return fail(added.error());
    }
    return batch;
  }
  Todo prepare(const std::string& id, const CallAll& all) {
    UseTools batch;
    for (const WrittenCall& call : all.calls) {
      if (auto added = add_call(batch, numbered(id, batch.calls.size()), call); !added)
        return fail(added.error());
    }
    return batch;
  }
  Todo prepare(const std::string&, const SayText& step) {
    auto text = fill_text(step.text, scope_);
    if (!text) return fail(text.error());
    return AddMessage{*std::move(text)};
  }
  Todo prepare(const std::string&, const AskText& step) {
    auto prompt = fill_text(step.prompt, scope_);
    if (!prompt) return fail(prompt.error());
    return AskPerson{*std::move(prompt)};
  }
  Todo prepare(const std::string&, const Sleep& step) { return step; }
  Todo prepare(const std::string&, const End& step) {
    auto text = fill_text(step.text, scope_);
    if (!text) return fail(text.error());
    if (step.reason == StopReason::kFinished) return Conclude{step.reason, *std::move(text), std::nullopt};
    return Conclude{step.reason, {}, make_error(ErrorCode::kTool, *std::move(text))};
  }

  static std::string numbered(const std::string& id, std::size_t index) {
    return id + "." + std::to_string(index);
  }

  Status add_call(UseTools& batch, std::string id, const WrittenCall& call) const {
    const auto input = fill(call.input, scope_);
    if (!input) return fail(input.error());
    batch.calls.push_back({CallId{std::move(id)}, call.tool, to_json_text(*input), true, nullptr});
    return {};
  }

  std::span<const StepResult> results_;  ///< not yet claimed by a step
  Json scope_;
  std::string last_text_;
};

}  // namespace

ScriptedPlanner::ScriptedPlanner(std::vector<WrittenStep> steps)
    : steps_(std::make_shared<const std::vector<WrittenStep>>(std::move(steps))) {}

Result<ScriptedPlanner> ScriptedPlanner::parse(const Json& plan) {
  auto steps = parse_plan(plan);
  if (!steps) return fail(steps.error());
  return ScriptedPlanner{*std::move(steps)};
}

PlanStep ScriptedPlanner::plan(const PlannerState& state) const { return Walk{state}.along(*steps_); }

}  // namespace praxis
