// A session in its agent tree: the events of sessions below, the sub-agents of its calls, and the budget of
// its turn.
#include <algorithm>
#include <iterator>
#include <utility>

#include "logs/log_writer.hpp"
#include "policy/conditions.hpp"
#include "policy/flow.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {

// ---- events

bool SessionActor::hears(bool deltas) const {
  if (collecting_ || (deltas ? observers_.want_deltas() : observers_.want_any())) return true;
  return heard_above(deltas);
}

bool SessionActor::heard_above(bool deltas) const { return origin_.above && origin_.above->hears(deltas); }

bool SessionActor::wants_deltas() const {
  return observers_.want_deltas() || services_->observers.want_deltas() || heard_above(true);
}

EventKinds SessionActor::wanted() const {
  if (collecting_ || heard_above(false)) return EventKinds().set();
  return observers_.wanted() | services_->observers.wanted();
}

void SessionActor::overhear(std::shared_ptr<const Event> event) {
  post([this, event = std::move(event)] {
    observers_.publish(*event);
    for (const auto& reader : following_) reader->push(*event);
    if (heard_above(is_delta(event->body))) origin_.above->overhear(event);
  });
}

void SessionActor::appear(UnixMillis created, UnixMillis updated) {
  post([this, created, updated] {
    show(driver_.status(), created);
    show(driver_.status(), updated);
  });
}

// ---- sub-agents

ParentLink::Place SessionActor::place() {
  return query([](const State& s) { return Place{s.depth, s.path}; });
}

void SessionActor::tell(driver::ChildNews news) {
  post([this, news = std::move(news)]() mutable {
    if (const auto* ended = std::get_if<driver::ChildEnded>(&news); ended != nullptr && ended->known)
      spend_unrecorded(ended->settled);
    std::visit([this](auto& each) { feed(std::move(each)); }, news);
  });
}

/// Counts what a sub-agent has used that ended its turn before a crash, as far as the log of this session
/// does not say: the budget was made from that log.
void SessionActor::spend_unrecorded(const records::ChildSettled& settled) {
  const State& s = state();
  const auto known = std::ranges::find(s.children, settled.child, &ChildState::id);
  const auto budget = known == s.children.end() ? nullptr : this->budget();
  if (!budget) return;
  Amount amount{settled.usage.total(), settled.usage.cost, settled.tool_calls};
  amount -= {known->usage.total(), known->usage.cost, known->tool_calls};
  budget->spend(amount);
}

void SessionActor::reach_down(std::uint32_t height) {
  std::uint32_t known = height_;
  while (known < height && !height_.compare_exchange_weak(known, height)) {
  }
  if (origin_.above) origin_.above->reach_down(height + 1);
}

/// A sub-agent that this process has open by itself is stopped; it ends in its own time.
void SessionActor::perform(driver::CloseLeft& action) {
  services_->options.executor->post_blocking([self = shared_from_this(), children = action.children] {
    Services& services = *self->services_;
    for (const SessionId& child : children) {
      if (const auto active = services.live.find(child)) active->interrupt();
      const auto closed = close_left(*services.options.journal, *services.options.environment, child);
      self->post([self, child, closed] {
        if (closed) self->spend_unrecorded(*closed);
        self->feed(driver::ChildClosed{child, closed ? std::optional(*closed) : std::nullopt});
      });
    }
  });
}

Result<SessionActor::Claim> SessionActor::claim_child(const CallId& call, const std::string& agent,
                                                      const std::string& key) {
  Claim claim;
  auto durable = submit([&](const State& s) -> Result<std::vector<RecordBody>> {
    const CallState* caller = s.find_call(call);
    if (caller == nullptr || caller->phase != CallState::Phase::kRunning)
      return fail(driver::call_is_over(call));
    claim.depth = s.depth + 1;
    const auto known =
        std::ranges::find_if(s.children, [&](const ChildState& c) { return c.call == call && c.key == key; });
    if (known != s.children.end()) {
      claim.id = known->id;
      return std::vector<RecordBody>{};
    }
    claim.id = SessionId{services_->options.environment->new_id()};
    claim.announced = LiveSessions::Announcement(services_->live, claim.id);
    return std::vector<RecordBody>{records::ChildSpawned{claim.id, call, agent, key}};
  });
  if (!durable) return fail(durable.error());
  return claim;
}

Result<Scope> SessionActor::scope_of_call(const CallId& call, Narrowing by) {
  const auto scope = query([&](const State& s) -> std::optional<Scope> {
    if (!s.agent) return std::nullopt;
    Scope above = *origin_.scope;
    above.permissions.clear();  // as recorded: a sub-agent that was opened by itself has them, too
    if (const auto* bounds = s.agent->bounds.if_array())
      std::ranges::transform(*bounds, std::back_inserter(above.permissions),
                             [&](const Json& each) { return counted_below(each, s); });
    by.budget = budget();
    by.policy = counted_below(flow::bounds_below(s), s);
    const CallState* running = s.find_call(call);
    by.trace = running != nullptr ? effect_trace(s, running->effect, running->attempt) : s.trace;
    return narrowed(above, std::move(by));
  });
  if (scope) return *scope;
  return fail(ErrorCode::kJournal, "the log of session " + id().str() + " cannot be read");
}

void SessionActor::report_last_turn() {
  if (!origin_.above) return;
  const auto settled = query([](const State& s) {
    return records::ChildSettled{
        s.id, s.last ? s.last->reason.value_or(StopReason::kFinished) : StopReason::kFinished,
        s.subtree_usage(), s.subtree_calls(), s.started_by_tool()};
  });
  origin_.above->tell(driver::ChildEnded{settled, true});
}

// ---- calls within calls

void SessionActor::propose_within(const CallId& within, ToolCallPart call, std::string key, CallDone done) {
  const auto propose = [&] {
    feed(driver::CallRequested{within, std::move(call), std::move(key), callers_.add(std::move(done))});
  };
  if (on_strand()) return propose();
  query([&](const State&) {
    propose();
    return true;
  });
}

void SessionActor::stop_within(const CallId& call) { post_input(driver::CallsWithinStopped{call}); }

// ---- budgets

std::shared_ptr<Budget> SessionActor::budget() {
  if (budget_known_ || !state().turn) return budget_;
  budget_known_ = true;
  const Limits& limits = state().agent->limits;
  if (!driver::is_bounded(limits) && !origin_.scope->budget) return nullptr;
  const AgentResult& report = state().turn->report;
  const Usage usage = report.usage + report.usage_children;
  const Amount spent{usage.total(), usage.cost, state().turn_calls()};
  budget_ = Budget::create(origin_.scope->budget, limits, spent, spent);
  return budget_;
}

}  // namespace praxis
