// Carries out the actions of the turn driver, except effects, hooks and approvals (perform.cpp,
// hook_calls.cpp, people.cpp).
#include <algorithm>
#include <utility>

#include "policy/event_texts.hpp"
#include "runtime/agent_tree_nodes.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {
namespace {

const std::size_t kStatusKind = EventBody(events::AgentStatus{}).index();
const EventKinds kTurnEnds = kinds_of("stream:end");

}  // namespace

// ---- the journal and the end

void SessionActor::perform(driver::AppendRecords& action) {
  services_->options.journal->append(std::move(action.append), [self = shared_from_this()](
                                                                   Result<std::uint64_t> last) mutable {
    Task take = [self, last = std::move(last)]() mutable { self->feed(driver::Appended{std::move(last)}); };
    if (self->on_strand()) return self->post(std::move(take));
    // Not on the thread of the journal, which has to make the next commit.
    self->post_from_loop(std::move(take));
  });
}

void SessionActor::perform(driver::AwaitActions& /*action*/) { feed(driver::ActionsDone{}); }

void SessionActor::perform(driver::GiveUp& /*action*/) {
  usable_ = false;
  if (place_) place_->lost();
  for (auto& [id, running] : std::exchange(effects_, {})) running.stop.request_stop();
  services_->options.journal->release(lease_);
}

void SessionActor::perform(driver::AnswerWaiter& action) {
  if (auto waiter = waiters_.take(action.waiter)) (*waiter)(std::move(action.durable));
}

// ---- time

void SessionActor::perform(driver::ArmTimer& action) {
  const auto fire = [token = action.timer](const std::shared_ptr<SessionActor>& self) {
    self->post([self, token] {
      self->timers_.take(token);
      self->feed(driver::TimerFired{token});
    });
  };
  Executor& executor = *services_->options.executor;
  if (action.keeps) {
    timers_.put(action.timer,
                executor.after(action.delay, [self = shared_from_this(), fire] { fire(self); }));
  } else {
    timers_.put(action.timer, executor.after(action.delay, [weak = weak_from_this(), fire] {
      if (const auto self = weak.lock()) fire(self);
    }));
  }
}

void SessionActor::perform(driver::DisarmTimer& action) {
  if (const auto timer = timers_.take(action.timer)) services_->options.executor->cancel(*timer);
}

// ---- events and readers

void SessionActor::publish_status() {
  if (status_change_) publish(transient(*std::exchange(status_change_, nullptr)));
}

/// While the state is not in memory, nothing can have changed the filters.
const redact::Redaction& SessionActor::shown_by() {
  if (!driver_.has_state()) return shown_by_;
  const AgentSpecPtr& agent = driver_.state().agent;
  if (shown_of_.lock() == agent) return shown_by_;
  shown_of_ = agent;
  shown_by_ =
      agent
          ? redact::Redaction().then(filters::text_rule(filters::filters_of(*agent), filters::Point::kShown))
          : redact::Redaction();
  return shown_by_;
}

AgentResult SessionActor::shown(AgentResult result) {
  if (!origin_.above) redact_result(result, shown_by());
  return result;
}

void SessionActor::perform(driver::Publish& action) {
  if (const auto& filters = shown_by(); !filters.is_off()) {
    if (is_delta(action.event.body)) return;
    redact_event(action.event, filters);
  }
  if (kTurnEnds.test(action.event.body.index())) publish_status();
  if (!action.readers_only) {
    observers_.publish(action.event);
    services_->observers.publish(action.event);
  }
  for (const driver::Reader& reader : action.readers) {
    if (const auto* events = readers_.find(reader.token)) (*events)->push(action.event);
  }
  if (!action.readers_only && heard_above(is_delta(action.event.body)))
    origin_.above->overhear(std::make_shared<const Event>(std::move(action.event)));
}

std::vector<std::shared_ptr<EventQueue>> SessionActor::take_readers(const driver::Readers& readers) {
  std::vector<std::shared_ptr<EventQueue>> taken;
  for (const driver::Reader& reader : readers) {
    if (auto events = readers_.take(reader.token)) taken.push_back(*std::move(events));
  }
  find_readers();
  return taken;
}

void SessionActor::perform(driver::FinishTurn& action) {
  const auto readers = take_readers(action.readers);
  if (!agent_->hooks.after_turn.empty()) reported_ = std::make_unique<AgentResult>(action.result);
  action.result = shown(std::move(action.result));
  for (const auto& reader : readers) reader->finish(action.result);
}

void SessionActor::perform(driver::FinishReaders& action) {
  publish_status();
  if (action.result) action.result = shown(*std::move(action.result));
  for (const auto& reader : take_readers(action.readers)) reader->finish(action.result);
}

void SessionActor::perform(driver::ReadersChanged& /*action*/) { find_readers(); }

void SessionActor::find_readers() {
  following_.clear();
  for (const driver::Reader& reader : driver_.readers()) {
    if (const auto* events = readers_.find(reader.token)) following_.push_back(*events);
  }
  collecting_ = std::ranges::any_of(following_, &EventQueue::collects);
}

void SessionActor::publish(const Event& event) {
  if (const auto& filters = shown_by(); !filters.is_off()) {
    if (is_delta(event.body)) return;
    Event less = event;
    redact_event(less, filters);
    return send(less);
  }
  send(event);
}

void SessionActor::send(const Event& event) {
  observers_.publish(event);
  services_->observers.publish(event);
  for (const auto& reader : following_) reader->push(event);
  if (heard_above(is_delta(event.body))) origin_.above->overhear(std::make_shared<const Event>(event));
}

Event SessionActor::transient(EventBody body) {
  const State& now = state();
  Event event;
  event.agent = {now.id, now.depth, now.parent};
  event.seq = now.seq;
  const driver::TurnPlace place = driver_.place();
  event.turn = place.turn;
  event.step = place.step;
  event.time = services_->options.environment->now();
  event.body = std::move(body);
  return event;
}

void SessionActor::emit(EventBody body) {
  post([this, body = std::move(body)]() mutable { publish(transient(std::move(body))); });
}

void SessionActor::hear_host(std::shared_ptr<const Event> event) {
  post([this, event = std::move(event)] {
    observers_.publish(*event);
    for (const auto& reader : following_) reader->push(*event);
  });
}

// ---- the agent tree

void SessionActor::perform(driver::ShowSession& action) {
  show(action.status, action.updated, action.sleeps);
}

void SessionActor::show(SessionStatus status, std::optional<UnixMillis> updated, bool sleeps) {
  if (!usable_ || !state().agent) return;
  if (!place_) place_ = services_->tree.enter(root(), state(), updated.value_or(UnixMillis{}));
  const bool waits = status == SessionStatus::kAwaitingUser && !state().deleted;
  auto change = place_->show(state(), waits ? status : shown_status(state()), updated, sleeps);
  if (change && wanted().test(kStatusKind))
    status_change_ = std::make_unique<events::AgentStatus>(*std::move(change));
}

void SessionActor::perform(driver::TellParent& action) { origin_.above->tell(std::move(action.what)); }

void SessionActor::perform(driver::HandBack& action) {
  auto caller = callers_.take(action.waiter);
  if (!caller) return;
  if (!action.outcome) return (*caller)(fail(std::move(action.outcome.error())));
  ToolResultPart& result = action.outcome->result;
  (*caller)(ToolOutput{std::move(result.text),
                       std::move(action.outcome->value),
                       std::move(result.images),
                       {},
                       std::move(result.files)});
}

// ---- budgets

void SessionActor::perform(driver::ReserveBudget& action) {
  using Answered = driver::BudgetAnswered;
  const auto shared = budget();
  if (!shared) return feed(Answered{action.request, Answered::Granted{}});
  auto answer = shared->reserve(action.estimate, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->post_input(driver::BudgetFreed{});
  });
  if (auto* granted = std::get_if<Budget::Grant>(&answer)) {
    grants_.put(action.request, std::move(*granted));
    return feed(Answered{action.request, Answered::Granted{}});
  }
  const auto* spent = std::get_if<StopReason>(&answer);
  spent != nullptr ? feed(Answered{action.request, *spent})
                   : feed(Answered{action.request, Answered::Busy{}});
}

void SessionActor::perform(driver::ExtendBudget& action) {
  Budget::Grant* const grant = grants_.find(action.request);
  if (grant == nullptr) return;
  if (const auto exceeded = grant->extend(action.used))
    feed(driver::BudgetExceeded{action.request, *exceeded});
}

void SessionActor::perform(driver::SettleBudget& action) {
  if (auto grant = grants_.take(action.request)) grant->settle(action.spent);
}

void SessionActor::perform(driver::CloseBudget& /*action*/) {
  grants_.clear();
  budget_.reset();
  budget_known_ = false;
}

}  // namespace praxis
