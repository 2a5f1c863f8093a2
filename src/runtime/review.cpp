// Asking rules and hooks before a turn begins and before an effect is intended. Rules are judged on the spot;
// hooks may block, so they run on a worker and the loop goes on when they have answered.
#include <algorithm>
#include <ranges>

#include "runtime/session_actor.hpp"

namespace praxis {

/// False when the hook threw, which is reported.
bool SessionActor::run_hook(std::string_view name, const std::function<void()>& hook) {
  const auto failed = [&](std::string what) {
    post([this, hook_name = std::string(name), message = repair_utf8(what)]() mutable {
      publish(transient(HookFailed{std::move(hook_name), std::move(message)}), readers_);
    });
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

Message SessionActor::outgoing(Message message) {
  const auto& hooks = agent_->hooks.outgoing_message;
  if (hooks.empty()) return message;
  const HookContext context = query([this](const State&) { return hook_context(); });
  for (const auto& hook : hooks) {
    Message changed = message;
    if (run_hook("outgoing_message", [&] { hook(context, changed); })) message = std::move(changed);
  }
  return message;
}

/// The description as hooks want it from the next turn on; null when they change nothing.
AgentSpecPtr SessionActor::before_turn() {
  const auto& hooks = agent_->hooks.before_turn;
  if (hooks.empty()) return nullptr;
  const auto [context, before] = query([this](const State& s) { return std::pair(hook_context(), s.agent); });
  if (!before) return nullptr;  // the session is broken
  auto after = std::make_shared<AgentSpec>(*before);
  for (const auto& hook : hooks) {
    AgentSpec changed = *after;
    if (run_hook("before_turn", [&] { hook(context, changed); })) *after = std::move(changed);
  }
  after->model = before->model;
  after->tools = before->tools;
  after->plan = before->plan;
  after->profile = before->profile;
  return to_json(*after) == to_json(*before) ? nullptr : after;
}

/// Back on the strand with what hooks said, unless the turn has gone on without them.
void SessionActor::hooks_answered(HookContext asked, std::optional<std::string> pause, Task take) {
  post([this, asked = std::move(asked), pause = std::move(pause), take = std::move(take)]() mutable {
    hook_running_ = false;
    if (broken_) return;
    const HookContext now = hook_context();
    if (now.turn == asked.turn && now.step == asked.step) {
      take();
      if (pause) record(Intervened{CommandVerb::kPause, *std::move(pause), nullptr, by_hook()});
    }
    advance();
  });
}

/// True when a queued message may become a turn now.
bool SessionActor::hooks_for_turn() {
  if (agent_->hooks.before_turn.empty() || std::exchange(turn_hooked_, false)) return true;
  if (std::exchange(hook_running_, true)) return false;
  services_->options.executor->post_blocking([self = shared_from_this(), context = hook_context()] {
    self->hooks_answered(context, std::nullopt, [self, described = self->before_turn()] {
      if (described) self->record(Intervened{CommandVerb::kSetAgent, {}, described, by_hook()});
      self->turn_hooked_ = true;
    });
  });
  return false;
}

/// True when the model may be called now, with the hooks' changes in `decision` and `model_hook_`.
bool SessionActor::hooks_for_model(CallModel& decision) {
  const Hooks& hooks = agent_->hooks;
  if (hooks.before_model.empty() && hooks.pause_check.empty()) return true;
  if (model_hook_) {
    decision.patch = model_hook_->patch;
    if (!model_hook_->skip) model_hook_.reset();
    return true;
  }
  if (std::exchange(hook_running_, true)) return false;
  services_->options.executor->post_blocking(
      [self = shared_from_this(), context = hook_context(), history = state().conversation.history()] {
        std::optional<std::string> pause = self->asked_to_pause(context);
        ModelHookResult merged;
        for (const auto& hook : self->agent_->hooks.before_model) {
          self->run_hook("before_model", [&] {
            ModelHookResult result = hook(context, history);
            if (result.patch.instructions) merged.patch.instructions = std::move(result.patch.instructions);
            if (result.patch.options) merged.patch.options = std::move(result.patch.options);
            if (result.skip) merged.skip = std::move(result.skip);
          });
        }
        self->hooks_answered(context, std::move(pause), [self, merged = std::move(merged)]() mutable {
          self->model_hook_ = std::make_unique<ModelHookResult>(std::move(merged));
        });
      });
  return false;
}

std::optional<std::string> SessionActor::asked_to_pause(const HookContext& context) {
  std::optional<std::string> pause;
  for (const auto& hook : agent_->hooks.pause_check) {
    if (!pause) run_hook("pause_check", [&] { pause = hook(context); });
  }
  return pause;
}

/// Starts the calls that are allowed; true when at least one record came of it.
bool SessionActor::review_calls(const RunCalls& decision) {
  const Hooks& hooks = agent_->hooks;
  const std::uint32_t step = state().turn->step;
  if (std::exchange(reviewed_step_, step) != step) reviews_.clear();
  const std::shared_ptr<const Rules> judges = rules();
  std::vector<CallId> ready;
  std::vector<ToolCallPart> unknown;
  for (const std::size_t index : decision.calls) {
    const CallState& call = state().turn->calls[index];
    ready.push_back(call.call.id);
    if (call.phase == CallState::Phase::kProposed && !reviews_.contains(call.call.id))
      unknown.push_back(call.call);
  }
  const bool ask = !hooks.before_tool.empty() || !approvers_.empty() || !hooks.pause_check.empty();
  if (ask && !unknown.empty()) {
    ask_hooks(std::move(unknown), judges);
    return false;
  }
  for (const ToolCallPart& call : unknown) reviews_[call.id] = review(*judges, call, {});
  const std::uint64_t before = state().seq;
  for (const CallId& id : ready) run_call(id);
  return !broken_ && state().seq != before;
}

void SessionActor::ask_hooks(std::vector<ToolCallPart> calls, std::shared_ptr<const Rules> judges) {
  if (std::exchange(hook_running_, true)) return;
  services_->options.executor->post_blocking([self = shared_from_this(), rules = std::move(judges),
                                              context = hook_context(), calls = std::move(calls)] {
    std::optional<std::string> pause = self->asked_to_pause(context);
    std::map<CallId, Review> reviews;
    for (const ToolCallPart& call : calls) reviews[call.id] = self->review(*rules, call, context);
    self->hooks_answered(context, std::move(pause), [self, rules, reviews = std::move(reviews)]() mutable {
      if (self->rules() == rules) self->reviews_.merge(std::move(reviews));
    });
  });
}

/// The agent's rules and those of the agents above, which hold for it too.
std::shared_ptr<const SessionActor::Rules> SessionActor::rules() {
  const AgentSpecPtr& agent = state().agent;
  if (rules_of_ == agent) return rules_;
  Rules rules;
  if (const auto* bounds = agent->bounds.if_array()) {
    for (const Json& above : *bounds) rules.push_back(policy_rules_from_json(above));
  }
  rules.push_back(policy_rules_from_json(agent->policy));
  rules_ = std::make_shared<const Rules>(std::move(rules));
  rules_of_ = agent;
  reviews_.clear();  // what was judged under other rules is judged again
  return rules_;
}

/// Rules first: a hook can only narrow what they allow, also where it changes the arguments. Safe on any
/// thread.
SessionActor::Review SessionActor::review(const Rules& rules, const ToolCallPart& call,
                                          const HookContext& context) {
  Review review{allow(), std::nullopt, std::nullopt, by_policy()};
  const Tool* tool = agent_->tools.find(call.name);
  if (tool != nullptr) review.permission = judge(rules, tool->definition, call);
  if (!std::holds_alternative<Allow>(review.permission)) return review;
  review.author = by_hook();
  ToolCallPart seen = call;
  const auto replace_arguments = [&](std::string arguments) {
    seen.arguments = arguments;
    review.arguments = std::move(arguments);
  };
  for (const auto& hook : agent_->hooks.before_tool) {
    run_hook("before_tool", [&] {
      ToolHookResult result = hook(context, seen);
      if (result.arguments) replace_arguments(*std::move(result.arguments));
      if (result.result) review.result = std::move(result.result);
    });
  }
  for (const auto& approver : approvers_ | std::views::reverse) {  // those above see what those below changed
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
    Permission again = judge(rules, tool->definition, seen);
    if (std::holds_alternative<Deny>(again)) review.author = by_policy();
    if (!std::holds_alternative<Allow>(again)) review.permission = std::move(again);
  }
  return review;
}

void SessionActor::run_call(const CallId& id) {
  CallState* call = state().find_call(id);
  if (call == nullptr || broken_) return;
  const auto reviewed = reviews_.find(id);
  if (call->phase == CallState::Phase::kProposed && reviewed != reviews_.end()) {
    const Review& review = reviewed->second;
    if (const auto* denied = std::get_if<Deny>(&review.permission)) {
      record(Decided{{}, id, ApprovalVerb::kReject, denied->reason, review.author});
      return;
    }
    if (review.arguments) record(Decided{{}, id, ApprovalVerb::kEdit, *review.arguments, review.author});
    call = state().find_call(id);
    if (call == nullptr) return;
    if (const auto* asked = std::get_if<NeedsApproval>(&review.permission)) {
      record(park_call(state(), *call, asked->reason));
      if (!review.result) reviews_.erase(reviewed);  // the rest is in the log, and the wait may be long
      return;
    }
  }
  if (!may_call()) return;
  const std::size_t index = static_cast<std::size_t>(call - state().turn->calls.data());
  for (RecordBody& body : derive(state(), RunCalls{{index}})) record(std::move(body));
  call = state().find_call(id);
  if (call == nullptr || reviewed == reviews_.end() || !reviewed->second.result) return;
  give_in_its_place(*call, *std::exchange(reviewed->second.result, std::nullopt));
}

/// What a hook gives instead of running the tool, or of asking a person.
void SessionActor::give_in_its_place(const CallState& call, ToolOutput output) {
  for (const auto& [park, step] : state().parked) {
    if (step.call != call.call.id) continue;
    record(
        Decided{ParkId(park), CallId(step.call), ApprovalVerb::kAnswer, std::move(output.text), by_hook()});
    return;
  }
  EffectSettled mocked;
  mocked.effect = call.effect;
  mocked.by = "hook";
  mocked.result = outcome_of(call.call, std::move(output));
  record(std::move(mocked));
}

HookContext SessionActor::hook_context() {
  const auto& turn = state().turn;
  return {id(), agent_->spec.id, turn ? turn->id : TurnId{}, turn ? turn->step : 0};
}

}  // namespace praxis
