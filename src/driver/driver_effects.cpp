// Carries out intended effects: model calls, tool calls, timers. Each ends in exactly one `effect_settled`,
// even when the other side never answers; later answers are dropped.
#include <algorithm>

#include "core/unknown_outcome.hpp"
#include "driver/turn_driver.hpp"
#include "praxis/base/reach.hpp"

namespace praxis::driver {
namespace {

/// The outcome of an effect that was stopped before it started. A timer needs no error.
records::EffectSettled cancelled(EffectKind kind) {
  records::EffectSettled settled;
  settled.outcome = Outcome::kCancelled;
  if (kind != EffectKind::kTimer) settled.error = make_error(ErrorCode::kCancelled, "cancelled");
  return settled;
}

/// The outcome of a call that may or may not have taken effect. `error` says why it has no result.
records::EffectSettled unknown(Error error) {
  records::EffectSettled settled;
  settled.outcome = Outcome::kUnknown;
  error.message = unknown_outcome(error.message);
  error.retriable = false;
  settled.error = with_reach(std::move(error), Reach::kSent);
  return settled;
}

/// The outcome of an effect that did not stop within the grace time: its handler may still be running.
records::EffectSettled unstopped(EffectKind kind) {
  if (kind == EffectKind::kTool)
    return unknown(make_error(ErrorCode::kCancelled, "the call did not stop when it was asked to"));
  records::EffectSettled settled;
  settled.outcome = Outcome::kUnknown;
  settled.error = make_error(ErrorCode::kCancelled, "did not stop when asked to; its outcome is unknown");
  return settled;
}

records::EffectSettled failed(Error error) {
  records::EffectSettled settled;
  settled.outcome = error.code == ErrorCode::kCancelled ? Outcome::kCancelled : Outcome::kError;
  settled.error = std::move(error);
  return settled;
}

/// The outcome of a call whose handler has returned `error`. A handler that was stopped and does not say how
/// far the call had got may have sent anything, unless the tool is repeatable.
records::EffectSettled failed_call(const RunningEffect& call, Error error) {
  const bool may_be_sent = error.code == ErrorCode::kCancelled && !call.repeatable;
  const Reach reach = reach_of(error).value_or(may_be_sent ? Reach::kSent : Reach::kAnswered);
  return reach == Reach::kSent ? unknown(std::move(error)) : failed(std::move(error));
}

/// How long a timer or a delay still lasts: of a timer that another process began, the rest.
Millis rest_of(const records::EffectIntended& intent, const std::optional<EffectState>& effect) {
  const bool is_timer = intent.kind == EffectKind::kTimer && effect;
  return is_timer ? std::max(intent.delay - effect->waited, Millis{0}) : intent.delay;
}

}  // namespace

// ---- starting

/// Starts the effect of `intent`, which is durable. Returns false when it was settled instead of started.
bool TurnDriver::begin(const records::EffectIntended& intent) {
  if (failure_ || !state_->turn) return true;
  const CallState* call = state_->find_call(intent.effect);
  const auto& effect = state_->turn->effect;
  const bool call_runs = call != nullptr && call->phase == CallState::Phase::kRunning;
  const bool effect_runs =
      effect && effect->effect == intent.effect && effect->phase == EffectState::Phase::kRunning;
  if (!call_runs && !effect_runs) return true;  // a hook gave the result

  RunningEffect& running = effects_.begin(intent, now_.monotonic);
  if (state_->turn->stop || is_outdated(intent.call))
    return !settle(intent.effect, intent.attempt, cancelled(intent.kind));
  if (intent.kind == EffectKind::kTimer || intent.delay.count() != 0) {
    if (intent.kind != EffectKind::kTimer)
      running.delayed = std::make_shared<const records::EffectIntended>(intent);
    if (intent.kind == EffectKind::kTimer) effects_.hold_clock(running, now_.monotonic);
    running.timer = arm(EffectTimer{intent.effect, intent.attempt}, rest_of(intent, effect), true);
  } else {
    start(intent, running);
  }
  return true;
}

void TurnDriver::start(const records::EffectIntended& intent, RunningEffect& running) {
  if (intent.kind == EffectKind::kModel) return start_model(intent);
  start_tool(intent, running);
}

void TurnDriver::start_model(const records::EffectIntended& intent) {
  effects_.find(intent.effect, intent.attempt)->asked = true;
  StartModel start{intent.effect,
                   intent.attempt,
                   question_of(*state_, intent),
                   state_->model_calls,
                   !intent.summary && !intent.consult,
                   transient(events::TextDelta{}),
                   review_.rules(state_->agent),
                   review_.filters(state_->agent)};
  start.where.attempt = intent.attempt;
  emit(std::move(start));
}

void TurnDriver::start_tool(const records::EffectIntended& intent, RunningEffect& running) {
  const CallState& begun = *state_->find_call(intent.effect);
  const ToolCallPart& call = begun.call;
  const ToolSpec* tool = state_->agent->find_tool(call.name);
  running.limit = tool != nullptr ? tool->definition.timeout : ToolDefinition{}.timeout;
  running.repeatable = tool != nullptr && tool->definition.idempotent;
  arm_limit(intent.effect, running);
  emit(StartTool{intent.effect, intent.attempt, call, running.limit, state_->conversation.history(),
                 begun.answers, review_.filters(state_->agent)});
}

/// A call that timed out may still be running, so it is only retried when it is repeatable.
void TurnDriver::arm_limit(const EffectId& effect, RunningEffect& running) {
  if (running.limit.count() == 0) return;
  running.timer = arm(EffectTimer{effect, running.attempt}, time_left(running, now_.monotonic));
}

// ---- ending

void TurnDriver::on(ModelEnded&& input) {
  RunningEffect* running = effects_.find(input.effect, input.attempt);
  if (running == nullptr) return;
  records::EffectSettled ended;
  if (input.response) {
    if (input.response->usage.cost.value == 0 && setup_.model.price)
      input.response->usage.cost = setup_.model.price(input.response->usage);
    ended.result = *std::move(input.response);
  } else {
    if (!input.billable && now_.arrived == 0) running->asked = false;
    running->stated = input.stated;
    ended = failed(std::move(input.response.error()));
  }
  ended.by = std::move(input.by);
  if (settle(input.effect, input.attempt, std::move(ended))) advance();
}

void TurnDriver::on(ToolEnded&& input) {
  const RunningEffect* running = effects_.find(input.effect, input.attempt);
  if (running == nullptr) return;
  records::EffectSettled ended;
  if (input.outcome) {
    ended.result = *std::move(input.outcome);
  } else {
    ended = failed_call(*running, std::move(input.outcome.error()));
  }
  ended.by = std::move(input.by);
  if (input.original) {
    ended.original = std::move(input.original);
    if (ended.by.empty()) ended.by = "hook";
  }
  if (settle(input.effect, input.attempt, std::move(ended))) advance();
}

void TurnDriver::tool_is_late(const EffectId& effect, std::uint32_t attempt) {
  RunningEffect& late = *effects_.find(effect, attempt);
  stop(effect, late);
  const std::string& tool = state_->find_call(effect)->call.name;
  Error error = make_error(ErrorCode::kTool, ErrorKind::kTimeout,
                           tool + " did not finish within " + std::to_string(late.limit.count()) + " ms",
                           late.repeatable);
  if (settle(effect, attempt, late.repeatable ? failed(std::move(error)) : unknown(std::move(error))))
    advance();
}

/// Records the outcome of an effect in progress. Returns false when it is not (or no longer) in progress.
bool TurnDriver::settle(const EffectId& effect, std::uint32_t attempt, records::EffectSettled&& ended) {
  RunningEffect* running = effects_.find(effect, attempt);
  if (running == nullptr || failure_) return false;
  disarm(running->timer);
  ended.effect = effect;
  if (running->kind == EffectKind::kModel) count_spent(*running, ended);
  if (running->kind == EffectKind::kTool) settle_within(CallId(state_->find_call(effect)->call.id));
  ended.duration = effects_.finish(effect, now_.monotonic);
  if (effects_.last_active() != ended.duration) ended.active = effects_.last_active();
  emit(DropEffect{ended.effect});
  record(std::move(ended));
  return true;
}

/// Settles the calls that a handler left running before it settles the handler's own call.
void TurnDriver::settle_within(const CallId& outer) {
  std::vector<Attempt> left = stop_within(outer);
  for (const auto& [effect, attempt] : left) settle(effect, attempt, unstopped(EffectKind::kTool));
  if (failure_ || !state_->turn) return;
  const CallState* const call = state_->find_call(outer);
  if (call == nullptr || call->open_within == 0) return;
  // Intended but not durable yet: these never start.
  std::vector<EffectId> unbegun;
  const CallBatch& calls = state_->turn->calls;
  for (const std::uint32_t at : calls.in(CallState::Phase::kRunning)) {
    if (calls[at].within == outer && !effects_.contains(calls[at].effect))
      unbegun.push_back(calls[at].effect);
  }
  for (EffectId& effect : unbegun) {
    records::EffectSettled never = cancelled(EffectKind::kTool);
    never.effect = std::move(effect);
    record(std::move(never));
  }
}

/// Reports the usage of a model call to the budgets. A failed call may have been billed: its request and the
/// received bytes count, unless the request was never sent or was refused.
void TurnDriver::count_spent(const RunningEffect& call, records::EffectSettled& ended) {
  const auto* answer = std::get_if<ModelResponse>(&ended.result);
  if (answer == nullptr && call.asked)
    ended.spent = used_without_answer(*state_, setup_.model, call.stated, now_.arrived);
  const Usage usage = answer != nullptr ? answer->usage + answer->failed_usage : ended.spent;
  release(model_budget_, {usage.total(), usage.cost, 0});
}

// ---- stopping

/// An effect that backs off before its next attempt is settled by its timer, which fires at once.
void TurnDriver::stop(const EffectId& effect, RunningEffect& running) {
  running.stopping = true;
  if (!running.delayed) return emit(StopEffect{effect});
  disarm(running.timer);
  running.timer = arm(EffectTimer{effect, running.attempt}, std::chrono::nanoseconds{0}, true);
}

/// Stops the effects that a changed request has made pointless, and rejects the calls that have not started.
void TurnDriver::stop_outdated() {
  if (failure_ || !state_->turn) return;
  std::vector<Attempt> stopping;
  for (const CallId& id : setup_.planner->outdated(PlannerState(*state_))) {
    const CallState& call = *state_->find_call(id);
    if (call.phase == CallState::Phase::kProposed) {
      if (!record(records::Decided{
              {}, id, ApprovalVerb::kReject, "the user has changed the request", by_policy()}))
        return;
      continue;
    }
    const auto running = effects_.all().find(call.effect);
    if (running == effects_.all().end() || running->second.stopping) continue;
    stop(running->first, running->second);
    stopping.emplace_back(running->first, running->second.attempt);
  }
  settle_unstopped(std::move(stopping));
}

bool TurnDriver::is_outdated(const CallId& call) const {
  return !call.empty() && std::ranges::count(setup_.planner->outdated(PlannerState(*state_)), call) != 0;
}

/// Asks every effect in progress to stop. Settles timers at once; settles as unknown every effect that has
/// not ended when the grace time is over.
void TurnDriver::cancel_effects() {
  std::vector<Attempt> now, later;
  for (auto& [effect, running] : effects_.all()) {
    const bool waits_only = running.delayed || running.kind == EffectKind::kTimer;
    (waits_only ? now : later).emplace_back(effect, running.attempt);
  }
  for (const auto& [effect, attempt] : later) stop(effect, *effects_.find(effect, attempt));
  for (const auto& [effect, attempt] : now)
    settle(effect, attempt, cancelled(effects_.find(effect, attempt)->kind));
  settle_unstopped(std::move(later));
}

void TurnDriver::settle_unstopped(std::vector<Attempt> effects) {
  if (!effects.empty()) arm(GraceOver{std::move(effects)}, now_.grace);
}

/// Asks the calls that the handler of `outer` made to stop. Returns those that were running.
std::vector<Attempt> TurnDriver::stop_within(const CallId& outer) {
  std::vector<Attempt> stopping;
  const CallBatch& calls = state_->turn->calls;
  for (const std::uint32_t at : calls.within(outer)) {
    const auto running = effects_.all().find(calls[at].effect);
    if (running != effects_.all().end()) stopping.emplace_back(running->first, running->second.attempt);
  }
  std::ranges::sort(stopping);
  for (const auto& [effect, attempt] : stopping) stop(effect, *effects_.find(effect, attempt));
  return stopping;
}

void TurnDriver::on(CallsWithinStopped input) {
  if (!failure_ && state_->turn) settle_unstopped(stop_within(input.call));
}

// ---- time

Token TurnDriver::arm(TimerPurpose purpose, std::chrono::nanoseconds delay, bool keeps) {
  const Token timer = timers_.add(std::move(purpose));
  emit(ArmTimer{timer, delay, keeps});
  return timer;
}

void TurnDriver::disarm(Token& timer) {
  if (timer == 0) return;
  if (timers_.take(timer)) emit(DisarmTimer{timer});
  timer = 0;
}

void TurnDriver::on(TimerFired input) {
  auto purpose = timers_.take(input.timer);
  if (!purpose) return;
  std::visit([this](const auto& each) { fired(each); }, *purpose);
}

void TurnDriver::fired(TurnDeadline /*deadline*/) {
  deadline_ = 0;
  if (failure_ || !state_->turn) return;
  record(records::Intervened{CommandVerb::kDeadline, {}, nullptr, by_runtime()});
  cancel_effects();
  advance();
}

/// The step expires by the wall clock, which may jump; the timer only says when to check it.
void TurnDriver::fired(StepExpiry /*expiry*/) {
  expiry_ = 0;
  if (failure_ || expires_.value == 0) return;
  if (now_.wall < expires_) {
    expiry_ = arm(StepExpiry{}, until_expiry(expires_, now_.wall));
    return;
  }
  expires_ = {};
  expire_parked();
  advance();
}

void TurnDriver::fired(const EffectTimer& timer) {
  RunningEffect* running = effects_.find(timer.effect, timer.attempt);
  if (running == nullptr || failure_) return;
  running->timer = 0;
  if (const auto delayed = std::exchange(running->delayed, nullptr)) {
    if (!running->stopping) return start_delayed(*delayed, *running);
    if (settle(timer.effect, timer.attempt, cancelled(running->kind))) advance();
  } else if (running->kind == EffectKind::kTool) {
    tool_is_late(timer.effect, timer.attempt);
  } else if (settle(timer.effect, timer.attempt, {})) {
    advance();
  }
}

/// The delay does not count for the time limit of a tool.
void TurnDriver::start_delayed(const records::EffectIntended& intent, RunningEffect& running) {
  if (intent.kind == EffectKind::kTool) running.waited += intent.delay;
  start(intent, running);
}

void TurnDriver::fired(const GraceOver& grace) {
  bool settled = false;
  for (const auto& [effect, attempt] : grace.effects) {
    const RunningEffect* running = effects_.find(effect, attempt);
    settled = (running != nullptr && settle(effect, attempt, unstopped(running->kind))) || settled;
  }
  if (settled) advance();
}

/// Stops the time limit of a call while it waits for an approval or for a timer of a sub-agent.
void TurnDriver::hold_clocks() {
  if (failure_ || !state_->turn || !(tree_.any_help(*state_) || effects_.any_held())) return;
  for (auto& [effect, running] : effects_.all()) {
    const CallState* call = running.kind == EffectKind::kTool ? state_->find_call(effect) : nullptr;
    if (call == nullptr) continue;
    const bool waits = tree_.is_blocked(*state_, *call, TreeLink::Waits::kForPeopleOrTimers);
    if (waits && !running.waits_since) {
      effects_.hold_clock(running, now_.monotonic);
      disarm(running.timer);
    } else if (!waits && running.waits_since) {
      effects_.release_clock(running, now_.monotonic);
      arm_limit(effect, running);
    }
  }
}

/// Whether the turn is active: neither it nor all that works for it sleeps or waits for an approval, and it
/// does not stand paused.
bool TurnDriver::is_active() const { return !state_->paused && !tree_.rests(*state_); }

/// Arms the time limit of the turn, which runs while the turn is active.
void TurnDriver::arm_deadline() {
  if (failure_ || deadline_ != 0 || !state_->turn || !is_active()) return;
  const Limits& limits = state_->agent->limits;
  if (limits.timeout.count() == 0) return;
  const std::chrono::nanoseconds spent = state_->turn->report.duration + effects_.active(now_.monotonic);
  deadline_ = arm(TurnDeadline{}, std::max<std::chrono::nanoseconds>(limits.timeout - spent, {}));
}

}  // namespace praxis::driver
