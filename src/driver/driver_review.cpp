// Asking rules, hooks and budgets before a turn begins and before an effect is intended. Rules are judged on
// the spot; hooks may block, so the shell asks them and the loop continues when they have answered.
#include <algorithm>

#include "driver/turn_driver.hpp"

namespace praxis::driver {

// ---- hooks

void TurnDriver::ask_hooks(decltype(AskHooks::question) question) {
  if (!std::exchange(hooks_asked_, true)) emit(AskHooks{place(), std::move(question)});
}

/// True when hooks have to be asked before a queued message becomes a turn.
bool TurnDriver::asks_before_turn() {
  if (!setup_.hooks.turn || std::exchange(turn_advised_, false)) return false;
  ask_hooks(AskBeforeTurn{state_->agent});
  return true;
}

/// True when hooks have to be asked before the model is; else `call` has their changes.
bool TurnDriver::asks_before_model(CallModel& call) {
  if (!setup_.hooks.model) return false;
  if (!model_advice_) {
    ask_hooks(AskBeforeModel{state_->conversation.history()});
    return true;
  }
  call.patch = model_advice_->patch;
  if (!model_advice_->answer) model_advice_.reset();
  return false;
}

/// What hooks said counts unless the turn has gone on without them.
void TurnDriver::on(HooksAnswered input) {
  hooks_asked_ = false;
  if (failure_) return;
  if (input.place == place()) {
    std::visit([this](auto& advice) { take_advice(std::move(advice)); }, input.advice);
    if (input.pause) record(Intervened{CommandVerb::kPause, *std::move(input.pause), nullptr, by_hook()});
  }
  advance();
}

void TurnDriver::take_advice(TurnAdvice advice) {
  if (advice.agent) record(Intervened{CommandVerb::kSetAgent, {}, std::move(advice.agent), by_hook()});
  turn_advised_ = true;
}

void TurnDriver::take_advice(ModelAdvice advice) { model_advice_ = std::move(advice); }

void TurnDriver::take_advice(CallReviews advice) {
  review_.rules(state_->agent);
  review_.add(advice.rules, std::move(advice.reviews));
}

void TurnDriver::on(HookThrew input) {
  emit(Publish{transient(events::HookFailed{std::move(input.hook), std::move(input.message)}), readers_});
}

void TurnDriver::on(ToolReported input) {
  const CallState* call = failure_ ? nullptr : state_->find_call(input.call);
  if (call == nullptr || call->phase != CallState::Phase::kRunning) return;
  emit(Publish{transient(events::ToolProgress{std::move(input.call), call->call.name, std::move(input.text),
                                              input.fraction}),
               readers_});
}

// ---- tool calls

/// Starts the calls that are allowed; true when at least one record came of it.
bool TurnDriver::review_calls(const RunCalls& decision) {
  review_.begin_step(state_->turn->step);
  const std::shared_ptr<const Rules> rules = review_.rules(state_->agent);
  std::vector<CallId> ready;
  std::vector<ToolCallPart> unknown;
  for (const std::size_t index : decision.calls) {
    const CallState& call = state_->turn->calls[index];
    ready.push_back(call.call.id);
    if (call.phase == CallState::Phase::kProposed && review_.find(call.call.id) == nullptr)
      unknown.push_back(call.call);
  }
  if (setup_.hooks.calls && !unknown.empty()) {
    ask_hooks(AskAboutCalls{std::move(unknown), rules, review_.version()});
    return false;
  }
  for (const ToolCallPart& call : unknown) {
    const ToolSpec* tool = setup_.agent->find_tool(call.name);
    review_.add(call.id, judge_call(*rules, tool != nullptr ? &tool->definition : nullptr, call));
  }
  const std::uint64_t before = state_->seq;
  for (const CallId& id : ready) {
    if (!run_call(id)) break;
  }
  return !failure_ && state_->seq != before;
}

/// False when the calls after this one have to wait too.
bool TurnDriver::run_call(const CallId& id) {
  const CallState* call = state_->find_call(id);
  if (call == nullptr || failure_) return false;
  Review* review = review_.find(id);
  if (call->phase == CallState::Phase::kProposed && review != nullptr && record_review(id, *review))
    return !failure_;
  if (!affords_call()) return false;
  release(call_budget_, {0, {}, 1});
  call = state_->find_call(id);
  const auto index = static_cast<std::size_t>(call - state_->turn->calls.data());
  for (RecordBody& body : derive(*state_, RunCalls{{index}})) {
    if (!record(std::move(body))) return false;
  }
  call = state_->find_call(id);
  review = review_.find(id);
  if (call != nullptr && review != nullptr && review->result)
    give_in_its_place(*call, *std::exchange(review->result, std::nullopt));
  return true;
}

/// Records what a review says of a call; true when the call does not run now.
bool TurnDriver::record_review(const CallId& id, Review& review) {
  if (const auto* denied = std::get_if<Deny>(&review.permission)) {
    record(Decided{{}, id, ApprovalVerb::kReject, denied->reason, review.author});
    return true;
  }
  if (review.arguments && !record(Decided{{}, id, ApprovalVerb::kEdit, *review.arguments, review.author}))
    return true;
  const CallState* call = state_->find_call(id);
  if (call == nullptr) return true;
  const auto* asked = std::get_if<NeedsApproval>(&review.permission);
  if (asked == nullptr) return false;
  record(park_call(*state_, *call, asked->reason));
  if (!review.result) review_.forget(id);  // the rest is in the log, and the wait may be long
  return true;
}

/// What a hook gives instead of running the tool, or of asking a person.
void TurnDriver::give_in_its_place(const CallState& call, ToolOutcome outcome) {
  for (const auto& [park, step] : state_->parked) {
    if (step.call != call.call.id) continue;
    record(Decided{ParkId(park), CallId(step.call), ApprovalVerb::kAnswer, std::move(outcome.result.text),
                   by_hook()});
    return;
  }
  EffectSettled mocked;
  mocked.effect = call.effect;
  mocked.by = "hook";
  mocked.result = std::move(outcome);
  record(std::move(mocked));
}

// ---- budgets

bool TurnDriver::is_bounded() const {
  return setup_.bounded_above || driver::is_bounded(state_->agent->limits);
}

void TurnDriver::reserve(Reservation& reservation, const Amount& amount) {
  reservation.asked(next_request_);
  emit(ReserveBudget{next_request_++, amount});
}

/// False when the next model call has to wait for the budgets' answer, or for others to give something back.
bool TurnDriver::affords_model() {
  if (!is_bounded() || model_budget_.granted()) return true;
  if (model_budget_.asks()) reserve(model_budget_, longest_answer(*state_, setup_.model));
  return false;
}

bool TurnDriver::affords_call() {
  if (!is_bounded() || call_budget_.granted()) return true;
  if (call_budget_.asks()) reserve(call_budget_, {0, {}, 1});
  return false;
}

/// What was granted, if anything was, becomes what was spent.
void TurnDriver::release(Reservation& reservation, const Amount& spent) {
  if (const auto request = reservation.take()) emit(SettleBudget{*request, spent});
}

/// What was granted but is not used now, because the session was paused or stopped meanwhile, holds nothing
/// back from others.
void TurnDriver::release_idle() {
  const bool waits = hooks_asked_ || !state_->turn || state_->turn->effect;
  if (!waits && model_budget_.granted()) release(model_budget_);
  if (call_budget_.granted()) release(call_budget_);
}

void TurnDriver::on(BudgetAnswered input) {
  if (!model_budget_.answered(input) && !call_budget_.answered(input)) {
    // Of a turn that is over, or of a driver that has given up.
    if (std::holds_alternative<BudgetAnswered::Granted>(input.answer)) emit(SettleBudget{input.request, {}});
    return;
  }
  const auto* spent = std::get_if<StopReason>(&input.answer);
  if (spent != nullptr && state_->turn)
    record(Intervened{CommandVerb::kBudget, std::string(to_string(*spent)), nullptr, by_runtime()});
  advance();
}

void TurnDriver::on(BudgetFreed /*input*/) {
  const bool model = model_budget_.freed();
  const bool call = call_budget_.freed();
  if ((model || call) && !failure_) advance();
}

}  // namespace praxis::driver
