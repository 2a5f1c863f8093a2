// Calls the hooks of an agent. Hooks may block, so they run on a worker or on the calling thread.
#include <ranges>

#include "runtime/content_filters.hpp"
#include "runtime/hook_narrowing.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {
namespace {

/// Judges a call by the rules alone. A call that `Tool::approval_when` selects is judged like a call of a
/// tool that needs approvals. `tool` is null when the agent does not have the tool.
driver::Review judge_by_rules(const driver::Rules& rules, const Tool* tool, const ToolCallPart& call) {
  if (tool == nullptr) return driver::judge_call(rules, nullptr, call);
  if (tool->definition.needs_approval || !tool->asks_approval_of(call.arguments)) {
    return driver::judge_call(rules, &tool->definition, call);
  }
  ToolDefinition careful = tool->definition;
  careful.needs_approval = true;
  return driver::judge_call(rules, &careful, call);
}

}  // namespace

/// Returns false when the hook threw; reports what it threw.
bool SessionActor::run_hook(std::string_view name, const std::function<void()>& hook) {
  const auto failed = [&](std::string what) {
    post_input(driver::HookThrew{std::string(name), repair_utf8(what)});
    return false;
  };
  try {
    hook();
    return true;
  } catch (const std::exception& e) {
    return failed(e.what());
  } catch (...) {
    return failed("it threw something that is no std::exception");
  }
}

Status SessionActor::Outgoing::allowed() const {
  if (!decided || decided->verb != ApprovalVerb::kReject) return {};
  return fail(ErrorCode::kPolicy, ErrorKind::kContentPolicy, decided->text);
}

std::optional<records::Decided> SessionActor::filter(Message& message) {
  const auto agent = query([](const State& s) { return s.agent; });
  const auto filters = agent ? filters::filters_of(*agent) : nullptr;
  return filters ? filter_prompt(*filters, message) : std::nullopt;
}

std::string SessionActor::filtered(std::string text) {
  Message message = text_message(Role::kUser, std::move(text));
  filter(message);
  return message.text();
}

SessionActor::Outgoing SessionActor::outgoing(Message message) {
  auto decided = filter(message);
  if (decided && decided->verb == ApprovalVerb::kReject) return {{}, nullptr, std::move(decided)};
  Outgoing said = hooked(std::move(message));
  said.decided = std::move(decided);
  return said;
}

SessionActor::Outgoing SessionActor::hooked(Message message) {
  const auto& hooks = agent_->hooks.outgoing_message;
  if (hooks.empty()) return {std::move(message), nullptr};
  auto original = std::make_shared<const Message>(message);
  const HookContext context = query([this](const State&) { return hook_context(); });
  for (const auto& hook : hooks) {
    Message changed = message;
    if (run_hook("outgoing_message", [&] { hook(context, changed); })) message = std::move(changed);
  }
  if (to_json(message) == to_json(*original)) original.reset();
  return {std::move(message), std::move(original)};
}

/// Returns the description as the hooks want it from the next turn on; null when they change nothing.
AgentSpecPtr SessionActor::before_turn() {
  const auto& hooks = agent_->hooks.before_turn;
  if (hooks.empty()) return nullptr;
  const auto [context, before] = query([this](const State& s) { return std::pair(hook_context(), s.agent); });
  if (!before) return nullptr;  // the log cannot be read
  auto after = std::make_shared<AgentSpec>(*before);
  for (const auto& hook : hooks) {
    AgentSpec changed = *after;
    if (run_hook("before_turn", [&] { hook(context, changed); })) *after = std::move(changed);
  }
  if (const std::string kept = narrow(*before, *after); !kept.empty())
    post_input(driver::HookThrew{"before_turn", "a hook cannot change or widen: " + kept});
  return to_json(*after) == to_json(*before) ? nullptr : after;
}

void SessionActor::perform(driver::AskHooks& action) {
  services_->options.executor->post_blocking(
      [self = shared_from_this(), context = hook_context(), asked = std::move(action)] {
        driver::HooksAnswered answered{asked.place, driver::TurnAdvice{}};
        if (const auto* model = std::get_if<driver::AskBeforeModel>(&asked.question)) {
          answered.pause = self->asked_to_pause(context);
          driver::ModelAdvice advice = self->before_model(context, model->conversation);
          if (advice.answer) self->after_model(context, *advice.answer);
          answered.advice = std::move(advice);
        } else if (const auto* calls = std::get_if<driver::AskAboutCalls>(&asked.question)) {
          answered.pause = self->asked_to_pause(context);
          driver::CallReviews reviews{calls->version};
          for (const ToolCallPart& call : calls->calls)
            reviews.reviews[call.id] = self->review(*calls->rules, call, context);
          answered.advice = std::move(reviews);
        } else {
          answered.advice = driver::TurnAdvice{self->before_turn()};
        }
        self->post_input(std::move(answered));
      });
}

driver::ModelAdvice SessionActor::before_model(const HookContext& context, const History& history) {
  driver::ModelAdvice advice;
  if (!agent_->tool_sources.empty()) advice.agent = tools_of_sources();
  const std::vector<ToolSpec>& tools = advice.agent ? advice.agent->tools : agent_->spec.tools;
  const std::string models = model_ ? model_->name() : "";
  for (const auto& hook : agent_->hooks.before_model) {
    run_hook("before_model", [&] {
      ModelHookResult result = hook(context, advice.patch.history.value_or(history));
      const std::string refused = adopt(advice.patch, result, tools, models);
      if (!refused.empty()) post_input(driver::HookThrew{"before_model", refused});
      if (result.skip) advice.answer = std::move(result.skip);
    });
  }
  return advice;
}

void SessionActor::after_model(const HookContext& context, const ModelResponse& response) {
  for (const auto& hook : agent_->hooks.after_model)
    run_hook("after_model", [&] { hook(context, response); });
}

/// A hook that throws leaves the output as it was.
void SessionActor::after_tool(const HookContext& context, const ToolCallPart& call,
                              Result<ToolOutput>& output) {
  for (const auto& hook : agent_->hooks.after_tool) {
    Result<ToolOutput> changed = output;
    if (run_hook("after_tool", [&] { hook(context, call, changed); })) output = std::move(changed);
  }
}

void SessionActor::perform(driver::AskAfterTurn& action) {
  services_->options.executor->post_blocking(
      [self = shared_from_this(), asked = std::move(action)]() mutable {
        const HookContext context{self->id(), self->agent_->spec.id, asked.place.turn, asked.place.step};
        for (const auto& hook : self->agent_->hooks.after_turn) {
          AgentResult changed = asked.result;
          if (self->run_hook("after_turn", [&] { hook(context, changed); }))
            asked.result = std::move(changed);
        }
        self->post_input(driver::TurnReported{std::move(asked.result)});
      });
}

std::optional<std::string> SessionActor::asked_to_pause(const HookContext& context) {
  std::optional<std::string> pause;
  for (const auto& hook : agent_->hooks.pause_check) {
    if (!pause) run_hook("pause_check", [&] { pause = hook(context); });
  }
  return pause;
}

/// The rules come first: hooks can only narrow what the rules allow, also for arguments that a hook changed.
/// Safe on any thread.
driver::Review SessionActor::review(const driver::Rules& rules, const ToolCallPart& call,
                                    const HookContext& context) {
  const std::shared_ptr<const ToolSet> tools = tools_for_call();
  const Tool* tool = tools->find(call.name);
  driver::Review review = judge_by_rules(rules, tool, call);
  if (!std::holds_alternative<Allow>(review.permission)) return review;
  review.author = by_hook();
  ToolCallPart seen = call;
  const auto replace_arguments = [&](std::string arguments) {
    seen.arguments = arguments;
    review.arguments = std::move(arguments);
  };
  std::optional<ToolOutput> mocked;
  for (const auto& hook : agent_->hooks.before_tool) {
    run_hook("before_tool", [&] {
      ToolHookResult result = hook(context, seen);
      if (result.arguments) replace_arguments(*std::move(result.arguments));
      if (result.result) mocked = *std::move(result.result);
    });
  }
  if (mocked) give(review, call, *std::move(mocked), context);
  for (const auto& approver :
       approvers_ | std::views::reverse) {  // agents above see what the agents below changed
    for (const auto& hook : approver->hooks.approve) {
      Permission permission = deny("The approval hook failed.");
      run_hook("approve", [&] { permission = hook(seen); });
      if (auto* edited = std::get_if<Edit>(&permission)) {
        replace_arguments(std::move(edited->arguments));
      } else if (!std::holds_alternative<Allow>(permission)) {
        review.permission = std::move(permission);
      }
      if (std::holds_alternative<Deny>(review.permission)) return review;
    }
  }
  if (review.arguments && tool != nullptr) {
    Permission again = judge_by_rules(rules, tool, seen).permission;
    if (std::holds_alternative<Deny>(again)) review.author = by_policy();
    if (!std::holds_alternative<Allow>(again)) review.permission = std::move(again);
  }
  return review;
}

/// Sets the result that a hook gave in the tool's place, as the hooks after a call want it.
void SessionActor::give(driver::Review& review, const ToolCallPart& call, ToolOutput mocked,
                        const HookContext& context) {
  Result<ToolOutput> output = std::move(mocked);
  const Result<ToolOutcome> before = outcome_of(call, output);
  after_tool(context, call, output);
  const Result<ToolOutcome> after = outcome_of(call, std::move(output));
  review.original = original_of(before, after);
  review.result =
      after ? *after
            : ToolOutcome{
                  {call.id, call.name, ToolStatus::kError, after.error().message, {}, {}}, nullptr, nullptr};
}

HookContext SessionActor::hook_context() {
  state();
  driver::TurnPlace place = driver_.place();
  return {id(), agent_->spec.id, std::move(place.turn), place.step};
}

}  // namespace praxis
