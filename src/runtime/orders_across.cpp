// Orders, those that come as mail, and decisions across the tree: the session they are for may be awake here,
// asleep, or another process's.
#include <utility>

#include "logs/log_writer.hpp"
#include "praxis/logs/logs.hpp"
#include "runtime/rulings.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {
namespace {

constexpr int kMostLevelsUp = 64;  // deeper than sub-agents get, so that a damaged journal ends

Status status_of(const Result<OrderAnswer>& answer, const SessionId& session) {
  if (!answer) return fail(answer.error());
  if (const auto* refused = std::get_if<Refused>(&*answer)) return fail(ErrorCode::kInput, refused->reason);
  if (std::holds_alternative<Delivered>(*answer)) return {};
  return fail(Error{ErrorCode::kJournal,
                    "session " + session.str() +
                        " belongs to another process, which has not answered yet; the order waits for it",
                    false, nullptr, JsonObject{{"kind", "queued"}}});
}

}  // namespace

Status carry_out(const std::shared_ptr<Services>& services, const SessionId& session, Order order) {
  const auto& [journal, environment] = std::tie(services->options.journal, services->options.environment);
  const auto* acts = std::get_if<Acts>(&order);
  if (acts != nullptr && acts->empty()) {
    const auto known = journal->session(session);
    return known ? Status{} : fail(ErrorCode::kInput, "no session is called \"" + session.str() + "\"");
  }
  if (const auto actor = services->live.find(session)) return actor->obey(std::move(order));
  return status_of(give_order(*journal, *environment, session, order), session);
}

Status SessionActor::obey(Order order) {
  hear(order);
  return submit([&](const State& s) { return order_records(s, order, retired_); });
}

/// What a person says passes the hooks on what users say.
void SessionActor::hear(Order& order) {
  auto* acts = std::get_if<Acts>(&order);
  if (acts == nullptr) return;
  for (Act& act : *acts) {
    if (is_said(act.kind)) act.text = outgoing(text_message(Role::kUser, std::move(act.text))).text();
  }
}

void SessionActor::collect_mail() {
  Journal& journal = *services_->options.journal;
  for (auto page = journal.mail_for(id(), mail_taken_); page && !page->empty();
       page = journal.mail_for(id(), mail_taken_)) {
    for (const Mail& mail : *page) obey(mail);
    mail_taken_ = page->back().id;
  }
}

/// The answer is durable with what the order comes to, so it is carried out once.
void SessionActor::obey(const Mail& mail) {
  auto order = order_of(mail);
  if (order) hear(*order);
  post([this, letter = mail.id, order = std::move(order)] {
    if (broken_) return;
    expire_parked();
    auto bodies = order ? order_records(state(), *order, retired_)
                        : Result<std::vector<RecordBody>>(fail(order.error()));
    answers_.push_back({letter, bodies ? std::string(kMailOk) : bodies.error().message});
    take_in(bodies ? *std::move(bodies) : std::vector<RecordBody>{});
  });
}

/// Error `kInput` when `session` is not below this one.
Status SessionActor::check_below(const SessionId& session) {
  SessionId above = session;
  for (int level = 0; level < kMostLevelsUp && !above.empty(); ++level) {
    const auto row = services_->options.journal->session(above);
    if (!row) break;
    above = row->parent;
    if (above == id()) return {};
  }
  return fail(ErrorCode::kInput, "session " + session.str() + " is not below session " + id().str());
}

Status SessionActor::check_ruling(const SessionId& session, const Ruling& ruling) {
  if (auto below = check_below(session); !below) return below;
  const auto check = [&](const State& state) -> Status {
    auto records = order_records(state, ruling, false);
    return records ? Status{} : Status(fail(records.error()));
  };
  if (const auto actor = services_->live.find(session)) return actor->query(check);
  auto records = read_records(*services_->options.journal, session);
  auto state = records ? fold(*records) : Result<State>(fail(records.error()));
  return state ? check(*state) : Status(fail(state.error()));
}

/// `done` once nobody above waits for the step any more.
Status SessionActor::rule_below(const SessionId& session, const Ruling& ruling, Task done) {
  const auto actor = services_->live.find(session);
  auto ruled = praxis::carry_out(services_, session, ruling);
  if (!ruled || !actor || !actor->origin_.above) {
    done();
    return ruled;
  }
  actor->origin_.above->forget_step(qualified_id(session, ruling.park), std::move(done));
  return ruled;
}

Status SessionActor::decide(Ruling ruling) {
  auto [session, park] = split_id(ruling.park);
  if (session.empty() || session == id()) return obey(std::move(ruling));
  if (auto below = check_below(session); !below) return below;
  ruling.park = std::move(park);
  return rule_below(session, ruling, [] {});
}

/// The result of a turn that is over, once that is durable: before, the end of this process could undo it.
void SessionActor::finish_over(std::shared_ptr<EventQueue> events) {
  waiters_.emplace_back(
      [events = std::move(events), result = result_of(state())](const Result<std::uint64_t>& durable) {
        events->finish(durable ? Result<AgentResult>(result) : fail(durable.error()));
      });
  commit();
}

Result<Decisions> SessionActor::decide_below(const Decisions& decisions) {
  Decisions own;
  std::vector<std::pair<SessionId, Ruling>> below;
  for (const auto& [id_given, verdict] : decisions) {
    auto [session, park] = split_id(id_given);
    if (session.empty() || session == id()) {
      own.emplace_back(std::move(park), verdict);
    } else {
      below.emplace_back(std::move(session), Ruling{std::move(park), verdict});
    }
  }
  if (below.empty()) return own;
  auto checked = query([&](const State& s) { return decision_records(s, own, "person"); });
  if (!checked) return fail(checked.error());
  for (const auto& [session, ruling] : below) {
    if (auto possible = check_ruling(session, ruling); !possible) return fail(possible.error());
  }
  for (const auto& [session, ruling] : below) {
    std::promise<void> known;
    const auto ruled = rule_below(session, ruling, [&known] { known.set_value(); });
    known.get_future().wait();
    if (!ruled) return fail(ruled.error());
  }
  return own;
}

}  // namespace praxis
