#include "driver/turn_driver.hpp"
#include "core/project.hpp"

#include <algorithm>

namespace praxis::driver {
namespace {

bool stops_turn(const RecordBody& body) {
  const auto* act = std::get_if<records::Intervened>(&body);
  return act != nullptr && (act->verb == CommandVerb::kInterrupt || act->verb == CommandVerb::kDelete);
}

}  // namespace

TurnDriver::TurnDriver(Setup setup, State state)
    : setup_(std::move(setup)),
      state_(std::make_unique<State>(std::move(state))),
      log_(std::move(setup_.lease), state_->seq),
      inherited_(state_->turn.has_value()) {
  for (const ChildState& child : state_->children) {
    const CallState* call = state_->find_call(child.call);
    const bool is_over = call == nullptr || call->phase == CallState::Phase::kSettled;
    if (!is_over || !child.settled) left_.insert(child.id);
  }
}

void TurnDriver::take(const Moment& now, Input&& input, Actions& out) {
  now_ = now;
  out_ = &out;
  std::visit([this](auto& each) { on(std::move(each)); }, input);
  out_ = nullptr;
}

// ---- the state in memory

void TurnDriver::suspend() {
  if (failure_ || hooks_asked_ || log_.appending() || !log_.is_empty()) return;
  state_.reset();
  review_.suspend();
}

void TurnDriver::restore(Result<State> state, Actions& out) {
  out_ = &out;
  state_ = std::make_unique<State>();
  state_->id = log_.lease().session;
  if (!state) {
    give_up(state.error());
  } else if (state->seq != log_.durable()) {
    give_up(make_error(ErrorCode::kJournal, ErrorKind::kLeaseLost,
                       "session " + state_->id.str() + " was taken over by another process"));
  } else {
    *state_ = *std::move(state);
  }
  out_ = nullptr;
}

SessionStatus TurnDriver::status() const {
  return waits_for_people() ? SessionStatus::kAwaitingUser : state_->status();
}

bool TurnDriver::works() const {
  if (failure_) return false;
  if (hooks_asked_ || turn_ending_ || !held_turns_.empty() || log_.appending() || !log_.is_empty())
    return true;
  if (!state_->turn || inherited_ || (state_->paused && effects_.is_empty())) return false;
  return !waits_for_people() || attended();
}

TurnPlace TurnDriver::place() const {
  const auto& turn = state_->turn;
  return {turn ? turn->id : TurnId{}, turn ? turn->step : 0};
}

Event TurnDriver::transient(EventBody body) const {
  Event event;
  event.agent = {state_->id, state_->depth, state_->parent};
  event.seq = state_->seq;
  event.turn = place().turn;
  event.step = place().step;
  event.time = now_.wall;
  event.body = std::move(body);
  return event;
}

// ---- recording

/// Applies a record to the state and adds it to the next append. Returns false when nothing can be recorded.
bool TurnDriver::record(RecordBody&& body) {
  if (now_.closing) give_up(shut_down_error(), false);
  if (failure_) return false;
  const CallId within = handed_back(body);
  PendingRecord& pending = log_.add(now_.wall, std::move(body), readers_);
  if (auto applied = apply_to(*state_, pending.record); !applied) {
    log_.drop_last();
    state_ = std::make_unique<State>();
    state_->id = log_.lease().session;
    give_up(applied.error());
    return false;
  }
  const CallState* given = within.empty() ? nullptr : state_->find_call(within);
  if (given != nullptr && given->phase == CallState::Phase::kSettled) pending.handed_back = within;
  if (setup_.parent && std::holds_alternative<records::TurnStarted>(pending.record.body))
    emit(TellParent{ChildBegan{state_->id, setup_.parent->call}});
  if (now_.wanted.any()) pending.events = project(pending.record, *state_, now_.wanted);
  if (std::holds_alternative<records::TurnSettled>(pending.record.body)) close_turn(pending);
  return true;
}

Error TurnDriver::shut_down_error() const {
  return make_error(ErrorCode::kCancelled, "the runtime of session " + log_.lease().session.str() +
                                               " was shut down; resume it from the journal");
}

/// Removes everything that belongs to the turn.
void TurnDriver::close_turn(PendingRecord& settling) {
  settling.result = std::make_unique<AgentResult>(result_of(*state_));
  turn_ending_ = setup_.hooks.ended;
  readers_.clear();
  emit(ReadersChanged{});
  model_advice_.reset();
  review_.forget_all();
  tree_.forget_children();
  drop_lost_waiters();
  release(model_budget_);
  release(call_budget_);
  emit(CloseBudget{});
}

// ---- the loop

/// Decides and records until the loop has to wait, then starts an append.
void TurnDriver::advance() {
  if (setup_.at_rest && (!state_->turn || !state_->turn->stop)) return commit();
  recover();
  stop_outdated();
  while (!failure_ && carry_out(next(*state_, *setup_.planner))) {
  }
  if (!failure_) {
    drop_lost_waiters();
    close_left(false);
    release_idle();
  }
  commit();
}

/// Whether the turn of a queued message may begin.
bool TurnDriver::may_begin_turn() const {
  return !winding_down_ && !retired_ && !setup_.at_rest && !(setup_.holds_queue && readers_.empty());
}

/// Carries out one decision. Returns false when the loop has to wait.
bool TurnDriver::carry_out(Decision decision) {
  if (std::holds_alternative<Idle>(decision) || std::holds_alternative<Wait>(decision)) return false;
  if (std::holds_alternative<BeginTurn>(decision) && !may_begin_turn()) return false;
  if (const auto* calls = std::get_if<RunCalls>(&decision)) return review_calls(*calls);
  if (std::holds_alternative<Finish>(decision) && close_left(true)) return false;
  if (std::holds_alternative<BeginTurn>(decision) && (turn_ending_ || asks_before_turn())) return false;
  auto* call = std::get_if<CallModel>(&decision);
  if ((call != nullptr || std::holds_alternative<Summarise>(decision)) && !affords_model()) return false;
  std::optional<ModelResponse> answered;
  if (call != nullptr) {
    if (asks_before_model(*call)) return false;
    if (model_advice_) answered = std::exchange(model_advice_, nullptr)->answer;
  }
  for (RecordBody& body : derive(*state_, decision)) {
    if (!record(std::move(body))) return false;
  }
  if (!answered) return true;
  release(model_budget_);
  records::EffectSettled settled;
  settled.effect = state_->turn->effect->effect;
  settled.result = *std::move(answered);
  settled.by = "hook";
  return record(std::move(settled));
}

void TurnDriver::commit() {
  if (log_.appending() || failure_) return;
  // The answer follows at once, and the records that it leads to share this append.
  if (model_budget_.awaits_answer() || call_budget_.awaits_answer()) return;
  if (setup_.at_rest && closing_ != 0) return;  // the end of the turn shares this append
  update_questions();
  if (log_.is_empty()) {
    for (const Token waiter : log_.take_waiters()) emit(AnswerWaiter{waiter, log_.durable()});
    return come_to_rest();
  }
  // The first record of a session shares the append of the first input: a process that dies in between leaves
  // no session without its prompt.
  const Record* birth = rest_waiters_.empty() ? log_.lone_birth() : nullptr;
  if (birth == nullptr) return write_log();
  if (!setup_.parent) show(birth->time);  // a sub-agent that is shown has a log
}

/// Starts the append of everything that waits.
void TurnDriver::write_log() {
  const bool first = log_.untouched();
  Append append = log_.begin_append(*state_, state_->status());
  // A process that took the session above in the meantime has looked for sessions below before this one
  // existed.
  if (setup_.parent && first) append.on_behalf_of = setup_.parent->lease;
  emit(AppendRecords{std::move(append)});
}

std::optional<Append> TurnDriver::take_birth() {
  if (failure_ || setup_.parent || log_.lone_birth() == nullptr) return std::nullopt;
  return log_.begin_append(*state_, state_->status());
}

void TurnDriver::on(Appended input) {
  Log::Carried carried = log_.end_append(input.last);
  if (!input.last) give_up(input.last.error());
  // Before callers continue, who may look at what they have changed.
  if (input.last && !carried.records.empty()) show(carried.records.back().record.time);
  for (const Token waiter : carried.waiters) emit(AnswerWaiter{waiter, input.last});
  if (!input.last) {
    for (PendingRecord& pending : carried.records) {
      if (!pending.readers.empty()) emit(FinishReaders{std::move(pending.readers), fail(input.last.error())});
    }
    return;
  }
  bool settled = false;
  bool calls_out = false;  // true when callers are answered, who may send commands to the session
  for (PendingRecord& pending : carried.records) {
    if (report(pending)) continue;
    calls_out |= !pending.events.empty() || !pending.handed_back.empty() || pending.result;
    publish(pending);
    if (const auto* intent = std::get_if<records::EffectIntended>(&pending.record.body))
      settled = !begin(*intent) || settled;
    if (!pending.handed_back.empty()) hand_back(pending.handed_back);
    if (pending.result) finish_turn(pending);
  }
  tell_budget_wait();
  arm_deadline();
  if (settled) return advance();
  calls_out ? emit(AwaitActions{}) : commit();
}

void TurnDriver::publish(PendingRecord& pending) {
  for (Event& event : pending.events) emit(Publish{std::move(event), pending.readers});
}

/// Has the hooks after a turn look at its result first. Until they answer, the events of this record and of
/// later ones wait. Returns false when there is nothing to wait for.
bool TurnDriver::report(PendingRecord& pending) {
  const bool ends = pending.result != nullptr && setup_.hooks.ended;
  if (ends) {
    disarm(deadline_);
    const std::string& id = pending.result->id;  // `<session>/<turn>`
    emit(AskAfterTurn{{TurnId{id.substr(id.find('/') + 1)}, pending.result->steps}, *pending.result});
  }
  if (!ends && unreported_.empty()) return false;
  unreported_.push_back(std::move(pending));
  return true;
}

void TurnDriver::on(TurnReported input) {
  if (unreported_.empty()) return;  // the driver has given up
  turn_ending_ = false;
  std::vector<PendingRecord> ended = std::exchange(unreported_, {});
  for (Event& event : ended.front().events) set_result(event.body, input.result);
  *ended.front().result = std::move(input.result);
  for (PendingRecord& pending : ended) publish(pending);
  finish_turn(ended.front());
  advance();
  if (held_turns_.empty()) return;
  for (TurnRequested& request : std::exchange(held_turns_, {})) on(std::move(request));
  commit();
}

void TurnDriver::on(ActionsDone /*input*/) { commit(); }

/// Reports the cost of the turn to the session above before its readers continue.
void TurnDriver::finish_turn(PendingRecord& settling) {
  if (setup_.parent) {
    emit(TellParent{
        ChildEnded{{state_->id, settling.result->reason.value_or(StopReason::kFinished),
                    state_->subtree_usage(), state_->subtree_calls(), state_->started_by_tool()}}});
  }
  disarm(deadline_);
  if (!settling.readers.empty() || setup_.hooks.ended)
    emit(FinishTurn{std::move(settling.readers), *std::move(settling.result)});
  for (const Token waiter : std::exchange(end_waiters_, {})) emit(AnswerWaiter{waiter, log_.durable()});
}

/// Everything is durable and nothing is left to record: tells readers that the turn waits for an approval.
void TurnDriver::come_to_rest() {
  const bool waits = waits_for_people();
  hold_clocks();
  show(std::nullopt);  // before readers learn that this session waits
  if (!failure_ && state_->turn && !is_active()) disarm(deadline_);
  if (waits && !attended()) release_readers();
  refuse_readers_of_nothing();
  tell_parent_of_wait(waits);
  notify_rest();
}

/// The message whose turn the readers resumed was taken back before its turn began.
void TurnDriver::refuse_readers_of_nothing() {
  const bool begins = state_->turn || !state_->queue.empty() || hooks_asked_ || turn_ending_;
  if (failure_ || begins || readers_.empty() || !held_turns_.empty()) return;
  emit(FinishReaders{std::exchange(readers_, {}), fail(nothing_to_resume())});
  emit(ReadersChanged{});
}

void TurnDriver::notify_rest() {
  if (!failure_ && (turn_ending_ || !held_turns_.empty())) return;
  if (!failure_ && !inherited_ && state_->turn && !waits_for_people() && !state_->paused) return;
  for (const Token waiter : std::exchange(rest_waiters_, {})) emit(AnswerWaiter{waiter, log_.durable()});
}

/// Records what came from outside and continues the loop. A turn that another process left is resumed only by
/// a decision or with `resumes`; an interrupt ends it.
void TurnDriver::take_records(std::vector<RecordBody> records, bool resumes) {
  const bool decides = std::ranges::any_of(
      records, [](const RecordBody& body) { return std::holds_alternative<records::Decided>(body); });
  const bool stops = std::ranges::any_of(records, stops_turn);
  if (stops) recover();
  for (RecordBody& body : records) record(std::move(body));
  if (stops && !failure_ && state_->turn) cancel_effects();
  inherited_ && !decides && !resumes ? commit() : advance();
}

/// Marks effects as in doubt that another process intended and did not settle.
void TurnDriver::recover() {
  if (!std::exchange(inherited_, false) || !state_->turn || !state_->turn->in_flight() ||
      !effects_.is_empty())
    return;
  const auto& effect = state_->turn->effect;
  const bool asked = effect && effect->kind == EffectKind::kModel;
  record(records::StatusChanged{SessionStatus::kRunning, "recovered",
                                asked ? used_in_doubt(*state_, setup_.model) : Usage{}});
}

/// Our machinery failed (the journal, the log, a sub-agent's) or the session is closed: nothing can be
/// recorded, so nothing may be done. The first reason counts. The session above is informed before any reader
/// is: a handler that reads the failure must not end its call with it.
void TurnDriver::give_up(Error error, bool fault) {
  if (failure_) return;
  failure_ = std::make_unique<const Error>(std::move(error));
  emit(GiveUp{*failure_});
  if (setup_.parent && !now_.closing)
    emit(TellParent{ChildLost{state_->id, fault ? std::optional(*failure_) : std::nullopt}});
  disarm(deadline_);
  disarm(expiry_);
  for (const Token question : approvers_.withdraw_all()) emit(WithdrawQuestion{question});
  for (auto& [id, running] : effects_.all()) disarm(running.timer);
  effects_ = {};
  Log::Carried dropped = log_.abandon();
  for (PendingRecord& pending : dropped.records) {
    if (!pending.readers.empty()) emit(FinishReaders{std::move(pending.readers), fail(*failure_)});
  }
  for (const Token waiter : dropped.waiters) emit(AnswerWaiter{waiter, fail(*failure_)});
  if (!readers_.empty()) emit(FinishReaders{std::exchange(readers_, {}), fail(*failure_)});
  for (PendingRecord& pending : std::exchange(unreported_, {})) {
    if (!pending.readers.empty()) emit(FinishReaders{std::move(pending.readers), fail(*failure_)});
  }
  for (const TurnRequested& request : std::exchange(held_turns_, {})) refuse(request.reader, *failure_);
  emit(ReadersChanged{});
  tree_.forget_children();
  for (const Token waiter : tree_.take_all()) emit(HandBack{waiter, fail(*failure_)});
  release(model_budget_);
  release(call_budget_);
  for (const Token waiter : std::exchange(end_waiters_, {})) emit(AnswerWaiter{waiter, fail(*failure_)});
  notify_rest();
}

}  // namespace praxis::driver
