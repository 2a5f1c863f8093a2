// Checks rules, hooks and budgets before a turn starts and before an effect is intended. Rules are evaluated
// at once; hooks may block, so the shell runs them and the loop continues with their answers.
#include <algorithm>

#include "driver/turn_driver.hpp"

namespace praxis::driver {
namespace {

/// Whether a hook left the tool of a model's call in the request that the model answered. The calls of a
/// written plan are not a model's.
bool was_offered(const State& state, const CallState& call) {
  if (!call.within.empty() || !state.sent || !state.sent->patch.tools || state.agent->plan.is_array())
    return true;
  return std::ranges::count(*state.sent->patch.tools, call.call.name) > 0;
}

}  // namespace

// ---- hooks

void TurnDriver::ask_hooks(decltype(AskHooks::question) question) {
  if (!std::exchange(hooks_asked_, true)) emit(AskHooks{place(), std::move(question)});
}

/// Returns true when hooks have to run before a queued message becomes a turn.
bool TurnDriver::asks_before_turn() {
  const std::uint64_t message = state_->queue.front().id;
  if (!setup_.hooks.turn || std::exchange(advised_for_, 0) == message) return false;
  if (!hooks_asked_) asked_for_ = message;
  ask_hooks(AskBeforeTurn{state_->agent});
  return true;
}

/// Returns true when hooks have to run before the model call; otherwise `call` already has their changes.
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

/// Uses the answers of the hooks, unless the turn has moved on without them.
void TurnDriver::on(HooksAnswered input) {
  hooks_asked_ = false;
  if (failure_) return;
  if (input.place == place()) {
    std::visit([this](auto& advice) { take_advice(std::move(advice)); }, input.advice);
    if (input.pause)
      record(records::Intervened{CommandVerb::kPause, *std::move(input.pause), nullptr, by_hook()});
  }
  advance();
}

void TurnDriver::take_advice(TurnAdvice advice) {
  // Another message may have come in front meanwhile: the hooks are asked before its turn.
  if (state_->queue.empty() || state_->queue.front().id != asked_for_) return;
  if (advice.agent)
    record(records::Intervened{CommandVerb::kSetAgent, {}, std::move(advice.agent), by_hook()});
  advised_for_ = asked_for_;
}

void TurnDriver::take_advice(ModelAdvice advice) {
  if (AgentSpecPtr agent = std::move(advice.agent))
    record(records::Intervened{CommandVerb::kSetAgent, {}, std::move(agent), by_hook()});
  model_advice_ = std::make_unique<ModelAdvice>(std::move(advice));
}

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

/// Starts the allowed calls. Returns true when that added at least one record.
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

/// Returns false when the calls after this one have to wait too.
bool TurnDriver::run_call(const CallId& id) {
  const CallState* call = state_->find_call(id);
  if (call == nullptr || failure_) return false;
  Review* review = review_.find(id);
  if (call->phase == CallState::Phase::kProposed && !was_offered(*state_, *call)) {
    record(records::Decided{
        {}, id, ApprovalVerb::kReject, "the tool was not offered in this request", by_hook()});
    return !failure_;
  }
  if (call->phase == CallState::Phase::kProposed && review != nullptr) {
    const Rules& rules = *review_.rules(state_->agent);
    judge_content(*review, review_.filters(state_->agent), rules, *state_, *call);
    judge_conditions(*review, rules, *state_, *call);
    judge_origins(*review, rules, *state_, *call);
    if (record_review(id, *review)) return !failure_;
  }
  if (!affords_call()) return false;
  release(call_budget_, {0, {}, 1});
  call = state_->find_call(id);
  const auto index = state_->turn->calls.position(*call);
  for (RecordBody& body : derive(*state_, RunCalls{{index}})) {
    if (!record(std::move(body))) return false;
  }
  call = state_->find_call(id);
  review = review_.find(id);
  if (call != nullptr && review != nullptr && review->result) give_in_its_place(*call, *review);
  return true;
}

/// Records a review. Returns true when the call does not run now.
bool TurnDriver::record_review(const CallId& id, Review& review) {
  if (const auto* denied = std::get_if<Deny>(&review.permission)) {
    record(records::Decided{{}, id, ApprovalVerb::kReject, denied->reason, review.author});
    return true;
  }
  if (review.arguments &&
      !record(records::Decided{{}, id, ApprovalVerb::kEdit, *review.arguments, review.author}))
    return true;
  const CallState* call = state_->find_call(id);
  if (call == nullptr) return true;
  const auto* asked = std::get_if<NeedsApproval>(&review.permission);
  if (asked == nullptr) return false;
  record(park_call(*state_, *call, asked->reason));
  if (!review.result) review_.forget(id);  // the log has the rest, and the wait may be long
  return true;
}

/// Uses the result that a hook gave instead of running the tool or asking the user.
void TurnDriver::give_in_its_place(const CallState& call, Review& review) {
  ToolOutcome outcome = *std::exchange(review.result, std::nullopt);
  for (const auto& [park, step] : state_->parked) {
    if (step.call != call.call.id) continue;
    record(records::Decided{ParkId(park), CallId(step.call), ApprovalVerb::kAnswer,
                            std::move(outcome.result.text), by_hook()});
    return;
  }
  records::EffectSettled mocked;
  mocked.effect = call.effect;
  mocked.by = "hook";
  mocked.result = std::move(outcome);
  mocked.original = std::move(review.original);
  record(std::move(mocked));
}

// ---- budgets

bool TurnDriver::is_bounded() const {
  return setup_.bounded_above || driver::is_bounded(state_->agent->limits);
}

void TurnDriver::reserve(Reservation& reservation, const Estimate& estimate) {
  reservation.asked(next_request_);
  emit(ReserveBudget{next_request_++, estimate});
}

/// Returns false when the next model call has to wait for the answer of the budgets or for other effects to
/// finish.
bool TurnDriver::affords_model() {
  if (!is_bounded() || model_budget_.granted()) return true;
  if (model_budget_.asks()) reserve(model_budget_, estimate_call(*state_, setup_.model));
  return false;
}

bool TurnDriver::affords_call() {
  if (!is_bounded() || call_budget_.granted()) return true;
  constexpr Amount kOneCall{0, {}, 1};
  if (call_budget_.asks()) reserve(call_budget_, {kOneCall, kOneCall});
  return false;
}

/// Settles the reservation with the amount spent, if it was granted.
void TurnDriver::release(Reservation& reservation, const Amount& spent) {
  if (const auto request = reservation.take()) emit(SettleBudget{*request, spent});
}

/// Releases reservations that are not used now, because the session was paused or stopped, so that they block
/// no other effect.
void TurnDriver::release_idle() {
  const bool waits = hooks_asked_ || !state_->turn || state_->turn->effect;
  if (!waits && model_budget_.granted()) release(model_budget_);
  if (call_budget_.granted()) release(call_budget_);
}

void TurnDriver::on(BudgetAnswered input) {
  if (!model_budget_.answered(input) && !call_budget_.answered(input)) {
    // The turn is over, or the driver has given up.
    if (std::holds_alternative<BudgetAnswered::Granted>(input.answer)) emit(SettleBudget{input.request, {}});
    return;
  }
  if (std::holds_alternative<BudgetAnswered::Busy>(input.answer)) wait_untold_ = true;
  tell_budget_wait();
  const auto* spent = std::get_if<StopReason>(&input.answer);
  if (spent != nullptr && state_->turn)
    record(records::Intervened{CommandVerb::kBudget, std::string(to_string(*spent)), nullptr, by_runtime()});
  advance();
}

/// Announces a model call that waits for the budget, once all that came before it is durable.
void TurnDriver::tell_budget_wait() {
  if (!wait_untold_ || !state_->turn || state_->seq != log_.durable()) return;
  wait_untold_ = false;
  if (model_budget_.waits())
    emit(Publish{transient(events::ModelWaiting{events::WaitReason::kBudget}), readers_});
}

/// Reserves more for an answer that has become longer than expected.
void TurnDriver::on(AnswerGrew input) {
  const RunningEffect* running = effects_.find(input.effect, input.attempt);
  const auto request = model_budget_.request();
  if (failure_ || running == nullptr || running->stopping || !request) return;
  const Usage used = used_without_answer(*state_, setup_.model, std::nullopt, input.arrived);
  emit(ExtendBudget{*request, {used.total(), used.cost, 0}});
}

/// Ends the turn, and with it the model call that no budget covers any more.
void TurnDriver::on(BudgetExceeded input) {
  if (failure_ || !state_->turn || model_budget_.request() != input.request) return;
  if (!record(records::Intervened{CommandVerb::kBudget, std::string(to_string(input.reason)), nullptr,
                                  by_runtime()}))
    return;
  std::vector<Attempt> stopping;
  for (auto& [effect, running] : effects_.all()) {
    if (running.kind != EffectKind::kModel || running.stopping) continue;
    stop(effect, running);
    stopping.emplace_back(effect, running.attempt);
  }
  settle_unstopped(std::move(stopping));
  advance();
}

void TurnDriver::on(BudgetFreed /*input*/) {
  const bool model = model_budget_.freed();
  const bool call = call_budget_.freed();
  if ((model || call) && !failure_) advance();
}

}  // namespace praxis::driver
