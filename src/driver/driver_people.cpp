// Approvals and the agent tree: which steps wait, and what the sessions above and below are sent.
#include <algorithm>
#include <utility>

#include "driver/expiry.hpp"
#include "driver/turn_driver.hpp"

namespace praxis::driver {

// ---- questions

/// Offers durable parked steps to the approval handler and arms their expiry timer. No-op until the session
/// is resumed in this process.
void TurnDriver::update_questions() {
  if (inherited_) return;
  Approvers::Changes changes = approvers_.update(*state_, log_, now_.approver, winding_down_);
  for (const Token question : changes.withdraw) emit(WithdrawQuestion{question});
  watch_expiry();
  for (auto& [question, step] : changes.ask) emit(AskPerson{question, std::move(step)});
}

/// Without a decision, or with an invalid one, the step stays parked.
void TurnDriver::on(PersonAnswered input) {
  const auto step = approvers_.answered(input.question);
  if (failure_ || !step) return;  // the question was withdrawn
  if (!input.records || !state_->parked.contains(*step)) return commit();
  if (!*input.records) {
    emit(Publish{transient(events::HookFailed{"person", input.records->error().message}), readers_});
    return commit();
  }
  take_records(**std::move(input.records), false);
}

void TurnDriver::on(ApproverChanged /*input*/) { commit(); }

// ---- steps that expire

/// Denies the steps that expired without a decision. Returns true when there were any.
bool TurnDriver::expire_parked() {
  if (failure_ || state_->parked.empty()) return false;
  std::vector<records::Decided> late = overdue(*state_, now_.wall);
  for (records::Decided& each : late) record(std::move(each));
  return !late.empty();
}

void TurnDriver::on(ExpireParked /*input*/) { expire_parked(); }

/// Arms one timer for the first step that expires.
void TurnDriver::watch_expiry() {
  const UnixMillis first = first_expiry(*state_);
  if (first == expires_) return;
  expires_ = first;
  disarm(expiry_);
  if (first.value != 0) expiry_ = arm(StepExpiry{}, until_expiry(first, now_.wall));
}

// ---- sessions above

/// Returns the result of a turn that waits, including the steps of sub-agents.
AgentResult TurnDriver::waiting_result() const {
  AgentResult result = result_of(*state_);
  result.status = status();
  std::vector<ParkedStep> below = tree_.pending();
  result.pending.insert(result.pending.end(), std::make_move_iterator(below.begin()),
                        std::make_move_iterator(below.end()));
  return result;
}

void TurnDriver::release_readers() {
  Readers leaving;
  std::erase_if(readers_, [&](const Reader& reader) {
    if (!reader.stays) leaving.push_back(reader);
    return !reader.stays;
  });
  if (leaving.empty()) return;
  emit(ReadersChanged{});
  emit(FinishReaders{std::move(leaving), waiting_result()});
}

/// Qualifies the ids of the steps, so that every session above can decide them.
void TurnDriver::tell_parent_of_wait(bool waits) {
  if (!setup_.parent) return;
  const bool sleeps = !waits && tree_.rests(*state_);
  if (!tree_.tells(waits || sleeps)) return;
  ChildWaits told{state_->id, {}, attended(), sleeps};
  if (waits) told.pending = waiting_result().pending;
  for (ParkedStep& step : told.pending) {
    if (step.session == state_->id) step.id = qualified_id(state_->id, step.id);
  }
  emit(TellParent{std::move(told)});
}

/// Updates the entry in the agent tree, unless it is up to date; `updated` is set when something was
/// recorded.
void TurnDriver::show(std::optional<UnixMillis> updated) {
  if (failure_ || !state_->agent) return;
  const SessionStatus now = status();
  const bool sleeps = now != SessionStatus::kAwaitingUser && tree_.rests(*state_);
  const Shown as{now, sleeps, state_->seq};
  if (std::exchange(shown_, as) != as || updated) emit(ShowSession{now, updated, sleeps});
}

// ---- sub-agents

void TurnDriver::on(ChildBegan input) {
  left_.erase(input.child);
  if (!failure_ && state_->find_call(input.call) != nullptr) tree_.began(input.child, input.call);
}

void TurnDriver::on(ChildEnded input) {
  left_.erase(input.settled.child);
  const auto recorded = std::ranges::find(state_->children, input.settled.child, &ChildState::id);
  if (failure_ || recorded == state_->children.end()) return;
  if (input.known && recorded->settled && recorded->usage == input.settled.usage) return;
  tree_.ended(input.settled.child);
  record(std::move(input.settled));
  advance();
}

void TurnDriver::on(ChildWaits input) {
  if (!failure_ && tree_.waits(std::move(input))) commit();
}

/// A call whose sub-agent gave up has no outcome: neither an error nor silence would be true. A sub-agent of
/// a call that is over has no more to say.
void TurnDriver::on(ChildLost input) {
  if (failure_) return;
  const auto lost = std::ranges::find(state_->children, input.child, &ChildState::id);
  const CallState* call = lost == state_->children.end() ? nullptr : state_->find_call(lost->call);
  const bool runs = call != nullptr && call->phase == CallState::Phase::kRunning;
  if (input.fault && runs) return give_up(*std::move(input.fault));
  if (tree_.lost(input.child)) commit();
}

/// Has the sub-agents closed that an earlier process left in calls that are over; with `all`, because the
/// turn ends, those of every call. Returns true while any of them is being closed: what they used counts for
/// the turn.
bool TurnDriver::close_left(bool all) {
  if (left_.empty()) return closing_ != 0;
  CloseLeft close;
  for (const ChildState& child : state_->children) {
    if (!left_.contains(child.id)) continue;
    const CallState* call = state_->find_call(child.call);
    if (all || call == nullptr || call->phase == CallState::Phase::kSettled)
      close.children.push_back(child.id);
  }
  for (const SessionId& child : close.children) left_.erase(child);
  closing_ += close.children.size();
  if (!close.children.empty()) emit(std::move(close));
  return closing_ != 0;
}

void TurnDriver::on(ChildClosed input) {
  --closing_;
  if (failure_) return;
  const auto child = std::ranges::find(state_->children, input.child, &ChildState::id);
  const bool counts = input.settled && child != state_->children.end();
  if (counts && !(child->settled && child->usage == input.settled->usage)) record(*std::move(input.settled));
  advance();
}

void TurnDriver::on(StepDecidedBelow input) { tree_.decided(input.step); }

// ---- calls within calls

void TurnDriver::on(CallRequested input) {
  if (failure_) return emit(HandBack{input.waiter, fail(*failure_)});
  const CallState* outer = state_->find_call(input.within);
  if (outer == nullptr || outer->phase != CallState::Phase::kRunning)
    return emit(HandBack{input.waiter, fail(call_is_over(input.within))});
  const CallBatch& calls = state_->turn->calls;
  if (const CallState* const known = calls.find(input.within, input.key)) {
    if (known->phase == CallState::Phase::kSettled) return emit(HandBack{input.waiter, outcome_of(*known)});
    tree_.await(known->call.id, input.waiter);
  } else {
    input.call.id = CallId{input.within.str() + "." + std::to_string(calls.within(input.within).size() + 1)};
    tree_.await(input.call.id, input.waiter);
    record(records::CallProposed{std::move(input.within), std::move(input.call), std::move(input.key)});
  }
  advance();
}

/// Returns the call within another call that `body` settles.
CallId TurnDriver::handed_back(const RecordBody& body) const {
  if (!tree_.awaits_any()) return {};
  const CallState* call = nullptr;
  if (const auto* settled = std::get_if<records::EffectSettled>(&body))
    call = state_->find_call(settled->effect);
  if (const auto* decided = std::get_if<records::Decided>(&body)) call = state_->find_call(decided->call);
  return call == nullptr || call->within.empty() ? CallId{} : call->call.id;
}

void TurnDriver::hand_back(const CallId& id) {
  const CallState* call = state_->find_call(id);
  if (call == nullptr) return;
  for (const Token waiter : tree_.take(id)) emit(HandBack{waiter, outcome_of(*call)});
}

/// Answers the callers of calls that were removed with the call that asked for them, or that will never
/// start.
void TurnDriver::drop_lost_waiters() {
  for (auto& [waiter, why] : tree_.take_lost(*state_)) emit(HandBack{waiter, fail(std::move(why))});
}

}  // namespace praxis::driver
