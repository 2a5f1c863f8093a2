#include "runtime/session_actor.hpp"

#include <algorithm>

#include "driver/command_records.hpp"
#include "praxis/logs/logs.hpp"
#include "runtime/input_checks.hpp"

namespace praxis {
namespace {

constexpr std::size_t kUsualRecords = 4;  // that are committed together: moving them costs more than the room

/// The first words of a text, cut between characters.
std::string title_of(const std::string& text) {
  std::size_t end = std::min<std::size_t>(text.size(), 80);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

bool stops_turn(const RecordBody& body) {
  const auto* command = std::get_if<Intervened>(&body);
  return command != nullptr &&
         (command->verb == CommandVerb::kInterrupt || command->verb == CommandVerb::kDelete);
}

}  // namespace

SessionActor::SessionActor(std::shared_ptr<Services> services, std::shared_ptr<const AgentDescription> agent,
                           std::shared_ptr<Model> model, std::unique_ptr<Planner> planner, Lease lease,
                           State state, Origin origin)
    : services_(std::move(services)),
      agent_(std::move(agent)),
      model_(std::move(model)),
      planner_(std::move(planner)),
      lease_(std::move(lease)),
      origin_(std::move(origin)),
      state_(std::make_unique<State>(std::move(state))) {
  opened_at_ = durable_seq_ = state_->seq;
  inherited_ = state_->turn.has_value();
  for (const auto& [pattern, handler] : agent_->handlers)
    agent_handlers_.push_back(observers_.add(pattern, handler));
  if (origin_.above) approvers_ = origin_.above->approvers_;
  if (!agent_->hooks.approve.empty()) approvers_.push_back(agent_);
  std::uint32_t height = 1;
  for (SessionActor* a = origin_.above.get(); a != nullptr; a = a->origin_.above.get(), ++height) {
    std::uint32_t known = a->height_;
    while (known < height && !a->height_.compare_exchange_weak(known, height)) {
    }
  }
}

SessionActor::~SessionActor() {
  if (deadline_ != 0) services_->options.executor->cancel(deadline_);
  if (expiry_ != 0) services_->options.executor->cancel(expiry_);
  services_->options.journal->release(lease_);
}

void SessionActor::post(Task work) {
  // Whoever is inside `run` keeps the actor, and so the strand, until it has left it.
  const auto keep = shared_from_this();
  strand_.run(std::move(work));
}

void SessionActor::post_from_loop(Task work) {
  services_->options.executor->post(
      [self = shared_from_this(), work = std::move(work)]() mutable { self->post(std::move(work)); });
}

State& SessionActor::state() {
  if (state_) return *state_;
  auto records = read_records(*services_->options.journal, id());
  auto folded = records ? fold(*records) : Result<State>(fail(records.error()));
  if (folded && folded->seq != durable_seq_) {
    lose_state({ErrorCode::kJournal, "session " + id().str() + " was taken over by another process", false,
                nullptr, JsonObject{{"kind", "lease_lost"}}});
  } else if (folded) {
    state_ = std::make_unique<State>(*std::move(folded));
  } else {
    lose_state(folded.error());
  }
  return *state_;
}

void SessionActor::lose_state(Error error) {
  state_ = std::make_unique<State>();
  state_->id = id();
  broken(std::move(error));
}

bool SessionActor::record(RecordBody body) {
  if (services_->closing) broken(shut_down_error());
  if (broken_) return false;
  const CallId within = handed_back(body);
  PendingRecord pending{{services_->options.environment->now(), std::move(body)}, readers_, {}, nullptr, {}};
  if (auto applied = apply_to(state(), pending.record); !applied) {
    lose_state(applied.error());
    return false;
  }
  const CallState* given = within.empty() ? nullptr : state_->find_call(within);
  if (given != nullptr && given->phase == CallState::Phase::kSettled) pending.handed_back = within;
  if (origin_.above && std::holds_alternative<TurnStarted>(pending.record.body)) {
    origin_.above->child_began(id(), origin_.call);
  }
  if (const EventKinds kinds = wanted(); kinds.any()) {
    pending.events = project(pending.record, *state_, kinds);
  }
  if (std::holds_alternative<TurnSettled>(pending.record.body)) {
    pending.result = std::make_unique<AgentResult>(result_of(*state_));
    readers_.clear();
    readers_changed();
    model_hook_.reset();
    reviews_.clear();
    children_.clear();
    drop_hand_backs();
    grant_.reset();
    budget_.reset();
    budget_known_ = false;
  }
  if (pending_.empty()) pending_.reserve(kUsualRecords);
  pending_.push_back(std::move(pending));
  return true;
}

void SessionActor::wind_down() {
  post([this] {
    winding_down_ = true;
    if (!broken_ && !inherited_ && state().turn && !waits_for_people()) interrupt();
  });
}

/// Goes on for as long as there is something to do, then makes what came of it durable.
void SessionActor::advance() {
  state();  // a suspended session may lose it here
  recover();
  stop_outdated();
  while (!broken_ && carry_out(next(state(), *planner_))) {
  }
  drop_hand_backs();
  if (!broken_) drop_idle_grant();
  commit();
}

/// The call within another that `body` gives its result to.
CallId SessionActor::handed_back(const RecordBody& body) {
  if (hand_backs_.empty()) return {};
  const CallState* call = nullptr;
  if (const auto* settled = std::get_if<EffectSettled>(&body)) call = state().find_call(settled->effect);
  if (const auto* decided = std::get_if<Decided>(&body)) call = state().find_call(decided->call);
  return call == nullptr || call->within.empty() ? CallId{} : call->call.id;
}

/// False when there is nothing to do before something else happens.
bool SessionActor::carry_out(Decision decision) {
  if (std::holds_alternative<Idle>(decision) || std::holds_alternative<Wait>(decision)) return false;
  if (winding_down_ && std::holds_alternative<BeginTurn>(decision)) return false;
  if (const auto* calls = std::get_if<RunCalls>(&decision)) return review_calls(*calls);
  if (std::holds_alternative<BeginTurn>(decision) && !hooks_for_turn()) return false;
  const Spending spending = spend_on(decision);
  if (spending != Spending::kGranted) return spending == Spending::kSpent && !broken_;
  std::optional<ModelResponse> answered;
  if (auto* call = std::get_if<CallModel>(&decision)) {
    if (!hooks_for_model(*call)) return false;
    if (model_hook_) answered = std::exchange(model_hook_, nullptr)->skip;
  }
  for (RecordBody& body : derive(state(), decision)) {
    if (!record(std::move(body))) return false;
  }
  if (answered) {
    grant_.reset();
    EffectSettled settled;
    settled.effect = state().turn->effect->effect;
    settled.result = *std::move(answered);
    settled.by = "hook";
    return record(std::move(settled));
  }
  return true;
}

void SessionActor::commit() {
  if (committing_ || broken_) return;
  attend_people();
  if (pending_.empty() && answers_.empty()) {
    for (AppendDone& waiter : std::exchange(waiters_, {})) waiter(durable_seq_);
    return settle_waiting();
  }
  Append append;
  append.answers = std::exchange(answers_, {});
  append.lease = lease_;
  append.expected_seq = durable_seq_;
  append.row.status = std::string(to_string(state().status()));
  // Who took the session above meanwhile has looked for those below and not found this one.
  if (origin_.above && durable_seq_ == opened_at_) append.on_behalf_of = origin_.above->lease_;
  if (durable_seq_ == 0) {
    append.row.agent = agent_->spec.id;
    append.row.model = agent_->spec.model;
    append.row.parent = state().parent;
  }
  for (const PendingRecord& pending : pending_) {
    std::vector<RecordBlob> blobs;
    append.entries.push_back({std::string(kind_name(pending.record.body)), pending.record.time,
                              encode_record(pending.record.body, blobs)});
    for (RecordBlob& blob : blobs) append.blobs.push_back({blob.digest, std::move(blob.bytes)});
    const auto* message = std::get_if<MessageAppended>(&pending.record.body);
    if (message != nullptr && message->source == MessageSource::kUser && state().next_message <= 2) {
      append.row.title = title_of(message->message->text());
    }
  }
  committing_ = true;
  services_->options.journal->append(
      std::move(append), [self = shared_from_this(), records = std::exchange(pending_, {}),
                          waiters = std::exchange(waiters_, {})](Result<std::uint64_t> done) mutable {
        Task settle = [self, records = std::move(records), waiters = std::move(waiters),
                       done = std::move(done)]() mutable {
          self->committed(std::move(records), std::move(waiters), std::move(done));
        };
        if (self->on_strand()) return self->post(std::move(settle));
        // Not on the journal's own thread, which has the next commit to make.
        self->post_from_loop(std::move(settle));
      });
}

void SessionActor::committed(std::vector<PendingRecord> records, std::vector<AppendDone> waiters,
                             Result<std::uint64_t> done) {
  committing_ = false;
  if (!done) broken(done.error());
  for (AppendDone& waiter : waiters) waiter(done);
  if (!done) {
    for (const PendingRecord& pending : records) finish(pending.readers, fail(done.error()));
    return;
  }
  durable_seq_ = *done;
  if (!records.empty()) show(records.back().record.time);
  for (PendingRecord& pending : records) {
    for (const Event& event : pending.events) publish(event, pending.readers);
    if (const auto* intent = std::get_if<EffectIntended>(&pending.record.body)) perform(*intent);
    if (!pending.handed_back.empty()) hand_back(pending.handed_back);
    if (pending.result) turn_settled(*std::move(pending.result), std::move(pending.readers));
  }
  arm_deadline();
  commit();
}

/// Everything is durable and nothing is left to record: whoever waits for a person learns it here.
void SessionActor::settle_waiting() {
  const bool waits = waits_for_people();
  hold_clocks();
  show(std::nullopt);  // before anybody is told that this session waits
  if (waits || state().paused) disarm_deadline();
  if (waits && !attended()) finish_waiting();
  tell_above(waits);
  notify_rest();
  if (services_->options.suspend_when_waiting) suspend();
}

void SessionActor::notify_rest() {
  if (!broken_ && !inherited_ && state().turn && !waits_for_people() && !state().paused) return;
  for (Task& waiter : std::exchange(rest_waiters_, {})) waiter();
}

void SessionActor::when_at_rest(Task done) {
  post([this, done = std::move(done)]() mutable {
    rest_waiters_.push_back(std::move(done));
    commit();
    if (broken_) notify_rest();
  });
}

Error SessionActor::shut_down_error() const {
  return {ErrorCode::kCancelled,
          "the runtime of session " + id().str() + " was shut down; resume it from the journal", false,
          nullptr, nullptr};
}

void SessionActor::abandon() {
  post([this] { broken(shut_down_error()); });
}

void SessionActor::suspend() {
  if (hook_running_ || broken_) return;
  state_.reset();
  rules_of_.reset();  // the description that the log gives next is another copy
  rules_.reset();
  // A model session must outlive its calls; once none is under way it is only a cache.
  const bool calling =
      std::ranges::any_of(active_, [](const auto& a) { return a.second.kind == EffectKind::kModel; });
  if (!calling) model_session_.reset();
}

/// Those above know what a turn has cost before whoever waits for it goes on.
void SessionActor::turn_settled(AgentResult result, Readers readers) {
  if (origin_.above) {
    origin_.above->child_settled(
        {id(), result.reason.value_or(StopReason::kFinished), state().subtree_usage()});
  }
  finish_turn(std::move(result), std::move(readers));
  for (Task& waiter : std::exchange(settle_waiters_, {})) waiter();
}

void SessionActor::finish_turn(AgentResult result, Readers readers) {
  disarm_deadline();
  if (readers.empty()) return;
  if (agent_->hooks.after_turn.empty()) return finish(readers, result);
  HookContext context{id(), agent_->spec.id, TurnId{result.id.substr(result.id.find('/') + 1)}, result.steps};
  services_->options.executor->post_blocking([self = shared_from_this(), readers = std::move(readers),
                                              context, result = std::move(result)]() mutable {
    for (const auto& hook : self->agent_->hooks.after_turn) {
      self->run_hook("after_turn", [&] { hook(context, result); });
    }
    finish(readers, result);
  });
}

/// The journal failed us, or the log broke its own rules: nothing can be recorded, so nothing may be done.
void SessionActor::broken(Error error) {
  if (broken_) return;
  broken_ = std::move(error);
  usable_ = false;
  if (place_) place_->lost();
  disarm_deadline();
  leave_people();
  for (auto& [effect, active] : std::exchange(active_, {})) {
    if (active.timer != 0) services_->options.executor->cancel(active.timer);
    active.stop.request_stop();
  }
  services_->options.journal->release(lease_);
  for (const PendingRecord& pending : std::exchange(pending_, {})) finish(pending.readers, fail(*broken_));
  for (AppendDone& waiter : std::exchange(waiters_, {})) waiter(fail(*broken_));
  finish(std::exchange(readers_, {}), fail(*broken_));
  readers_changed();
  children_.clear();
  for (auto& [call, waiting] : std::exchange(hand_backs_, {})) {
    for (CallDone& done : waiting) done(fail(*broken_));
  }
  grant_.reset();
  for (Task& waiter : std::exchange(settle_waiters_, {})) waiter();
  notify_rest();
  if (!origin_.above || services_->closing) return;
  origin_.above->post([above = origin_.above, child = id()] {
    // Nothing works there any more: perhaps all that is left below waits for people.
    if (!above->broken_ && above->children_.erase(child) != 0) above->commit();
  });
}

void SessionActor::publish(const Event& event, const Readers& readers) {
  observers_.publish(event);
  services_->observers.publish(event);
  for (const auto& reader : readers) reader->push(event);
  if (heard_above(is_delta(event.body))) origin_.above->overhear(std::make_shared<const Event>(event));
}

void SessionActor::finish(const Readers& readers, const Result<AgentResult>& result) {
  for (const auto& reader : readers) reader->finish(result);
}

EventKinds SessionActor::wanted() const {
  if (collecting_ || heard_above(false)) return EventKinds().set();
  return observers_.wanted() | services_->observers.wanted();
}

/// Records what came from outside and goes on. What another process left is carried on by a decision alone,
/// and ended by a stop.
void SessionActor::take_in(std::vector<RecordBody> bodies) {
  const bool decides = std::ranges::any_of(
      bodies, [](const RecordBody& body) { return std::holds_alternative<Decided>(body); });
  const bool stops = std::ranges::any_of(bodies, stops_turn);
  if (stops) recover();
  for (RecordBody& body : bodies) record(std::move(body));
  if (stops && !broken_ && state().turn) cancel_effects();
  inherited_ && !decides ? commit() : advance();
}

Status SessionActor::submit(Inputs inputs) {
  const auto work = [this, &inputs](AppendDone done) {
    if (expire_parked()) take_in({});
    auto bodies = inputs(state());
    if (broken_) return done(fail(*broken_));
    if (!bodies) return done(fail(bodies.error()));
    if (bodies->empty()) return done(durable_seq_);
    waiters_.push_back(std::move(done));
    take_in(*std::move(bodies));
  };
  std::promise<Status> durable;
  if (on_strand()) {
    Status refused;
    work([&refused](const Result<std::uint64_t>& done) {
      if (!done) refused = fail(done.error());
    });
    return refused;
  }
  post([&] {
    work([&durable](const Result<std::uint64_t>& done) {
      durable.set_value(done ? Status{} : Status(fail(done.error())));
    });
  });
  return durable.get_future().get();
}

void SessionActor::begin(RecordBody created) {
  post([this, created = std::move(created)]() mutable {
    record(std::move(created));
    commit();
  });
}

void SessionActor::start_turn(std::vector<Message> messages, std::shared_ptr<EventQueue> events,
                              Json output_schema) {
  auto possible = check_output_schema(output_schema);
  if (possible && model_) possible = check_media(messages, *model_);
  if (!possible) return events->finish(fail(possible.error()));
  for (Message& message : messages) message = outgoing(std::move(message));
  AgentSpecPtr described = before_turn();
  post([this, described = std::move(described), messages = std::move(messages), events = std::move(events),
        output_schema = std::move(output_schema)]() mutable {
    state();  // a suspended session may lose it here
    if (broken_) return events->finish(fail(*broken_));
    if (retired_) return events->finish(fail(retired_error()));
    if (state().deleted) return events->finish(fail(deleted_error()));
    if (state().turn) {
      Error error{ErrorCode::kInput,
                  "session " + id().str() + " is in the middle of a turn; wait, steer or enqueue", false,
                  nullptr, nullptr};
      AgentResult refused;
      refused.session = id();
      refused.error = error;
      events->push(transient(TurnFailed{std::move(refused)}));
      return events->finish(fail(std::move(error)));
    }
    readers_ = {std::move(events)};
    readers_changed();
    if (described) record(Intervened{CommandVerb::kSetAgent, {}, std::move(described), by_hook()});
    record(TurnStarted{TurnId{"t" + std::to_string(state().next_turn)}, std::move(output_schema)});
    for (Message& message : messages) {
      record(MessageAppended{std::make_shared<const Message>(std::move(message)), MessageSource::kUser});
    }
    advance();
  });
}

/// Effects that a process before us intended and did not settle are in doubt from here.
void SessionActor::recover() {
  if (std::exchange(inherited_, false) && state().turn && state().turn->in_flight() && active_.empty()) {
    const auto& effect = state().turn->effect;
    const bool asked = effect && effect->kind == EffectKind::kModel;
    record(StatusChanged{SessionStatus::kRunning, "recovered", asked ? usage_in_doubt() : Usage{}});
  }
}

void SessionActor::resume(std::shared_ptr<EventQueue> events, Inputs inputs, bool may_be_over) {
  post([this, events = std::move(events), inputs = std::move(inputs), may_be_over]() mutable {
    state();  // a suspended session may lose it here
    if (!broken_ && !state().turn && state().queue.empty()) {
      if (may_be_over && state().last) return finish_over(std::move(events));
      return events->finish(fail(ErrorCode::kInput, "session " + id().str() + " has no turn to carry on"));
    }
    if (broken_) return events->finish(fail(*broken_));
    if (retired_) return events->finish(fail(retired_error()));
    if (!state().turn && state().deleted) return events->finish(fail(deleted_error()));
    const bool expired = expire_parked();
    auto bodies = inputs(state());
    if (!bodies) {
      if (expired) advance();
      return events->finish(fail(bodies.error()));
    }
    readers_.push_back(std::move(events));
    readers_changed();
    if (origin_.above) origin_.above->child_began(id(), origin_.call);
    if (state().paused) record(Intervened{CommandVerb::kUnpause, {}, nullptr, by_library()});
    recover();
    for (RecordBody& body : *bodies) record(std::move(body));
    advance();
  });
}

void SessionActor::interrupt(std::shared_ptr<EventQueue> turn, Author author) {
  post([this, turn = std::move(turn), author = std::move(author)]() mutable {
    if (broken_ || !state().turn || (turn && std::ranges::find(readers_, turn) == readers_.end())) return;
    record(Intervened{CommandVerb::kInterrupt, {}, nullptr, std::move(author)});
    cancel_effects();
    advance();
  });
}

void SessionActor::command(CommandVerb verb, std::string text, Author author) {
  if (is_said(verb)) text = outgoing(text_message(Role::kUser, std::move(text))).text();
  post([this, verb, text = std::move(text), author = std::move(author)]() mutable {
    if (broken_) return;
    record(Intervened{verb, std::move(text), nullptr, std::move(author)});
    advance();
  });
}

}  // namespace praxis
