// Requests from outside and from the inbox, and approvals across the agent tree. The target may be active in
// this process, idle, or owned by another process.
#include <algorithm>
#include <utility>

#include "base/worker_pool.hpp"
#include "driver/command_records.hpp"
#include "logs/lineage.hpp"
#include "logs/log_writer.hpp"
#include "logs/read_state.hpp"
#include "runtime/inbox_watcher.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {
namespace {

Status status_of(const Result<Delivery>& answer, const SessionId& session) {
  if (!answer) return fail(answer.error());
  if (const auto* refused = std::get_if<Refused>(&*answer)) return fail(ErrorCode::kInput, refused->reason);
  if (std::holds_alternative<Delivered>(*answer)) return {};
  return fail(make_error(
      ErrorCode::kJournal, ErrorKind::kQueued,
      "session " + session.str() +
          " belongs to another process, which has not answered yet; the request waits in its inbox"));
}

}  // namespace

Status carry_out(const std::shared_ptr<Services>& services, InboxRequest request) {
  const auto& [journal, environment] = std::tie(services->options.journal, services->options.environment);
  if (auto possible = check_sendable(request); !possible) return possible;
  const SessionId target = target_of(request);
  if (const auto actor = services->live.find_soon(target)) return actor->carry_out(std::move(request));
  return status_of(deliver(*journal, *environment, request), target);
}

Status SessionActor::carry_out(InboxRequest request) {
  std::vector<RecordBody> decided;
  const Status allowed = run_outgoing_hooks(request, decided);
  const Status done = submit([&](const State& s) -> Result<std::vector<RecordBody>> {
    if (!allowed) return std::move(decided);
    return after(std::move(decided), request_records(s, request, driver_.retired()));
  });
  return done ? allowed : done;
}

/// Passes the text of commands that count as user messages through the content filters and the hooks on
/// outgoing messages. Adds the decisions of filters to `decided`. Error `kPolicy` if one denies a message:
/// then only that decision is recorded.
Status SessionActor::run_outgoing_hooks(InboxRequest& request, std::vector<RecordBody>& decided) {
  auto* commands = std::get_if<Commands>(&request);
  if (commands == nullptr) return {};
  const Status allowed = query([&](const State& s) { return filter_said(s, request, decided); });
  if (!allowed) return allowed;
  for (Command& command : *commands) {
    if (!is_said(command.verb)) continue;
    const Outgoing said = hooked(text_message(Role::kUser, command.text));
    if (said.original) command.original = std::exchange(command.text, said.message.text());
  }
  return {};
}

void SessionActor::collect_inbox() {
  Inbox& inbox = services_->options.journal->inbox();
  for (auto page = inbox.messages_for(id(), inbox_taken_); page && !page->empty();
       page = inbox.messages_for(id(), inbox_taken_)) {
    for (const InboxMessage& message : *page) carry_out(message);
    inbox_taken_ = page->back().id;
  }
}

/// Appends the answer together with the records of the request, so that the request is carried out only once.
void SessionActor::carry_out(const InboxMessage& message) {
  auto request = request_of(message);
  std::vector<RecordBody> decided;
  const Status allowed = request ? run_outgoing_hooks(*request, decided) : Status(fail(request.error()));
  post([this, id = message.id, request = std::move(request), allowed, decided = std::move(decided)] {
    expire();
    auto bodies = allowed ? after(decided, request_records(state(), *request, driver_.retired()))
                          : Result<std::vector<RecordBody>>(fail(allowed.error()));
    driver::RecordsGiven given;
    given.answer = InboxAnswer{id, bodies ? std::string(kInboxOk) : bodies.error().message};
    given.records = bodies ? *std::move(bodies) : decided;
    feed(std::move(given));
  });
}

/// Error `kInput` when `session` is not a descendant of this session.
Status SessionActor::check_below(const SessionId& session) {
  const auto sessions = lineage(*services_->options.journal, session);
  if (sessions && session != id() && std::ranges::count(*sessions, id()) > 0) return {};
  return fail(ErrorCode::kInput, "session " + session.str() + " is not below session " + id().str());
}

Status SessionActor::check_approval(const StepApproval& step) {
  if (auto below = check_below(step.target); !below) return below;
  const auto check = [&](const State& state) -> Status {
    auto records = request_records(state, step, false);
    return records ? Status{} : Status(fail(records.error()));
  };
  if (const auto actor = services_->live.find(step.target)) return actor->query(check);
  const auto state = read_state(*services_->options.journal, step.target);
  return state ? check(*state) : Status(fail(state.error()));
}

/// Calls `done` once no session above waits for the step.
Status SessionActor::approve_below(const StepApproval& step, Task done) {
  const auto actor = services_->live.find(step.target);
  auto approved = praxis::carry_out(services_, step);
  if (!approved || !actor || !actor->origin_.above) {
    done();
    return approved;
  }
  actor->origin_.above->forget_step(qualified_id(step.target, step.park), std::move(done));
  return approved;
}

Status SessionActor::decide(StepApproval step) {
  auto [session, park] = split_id(step.park);
  step.target = session.empty() ? id() : session;
  if (step.target == id()) return carry_out(std::move(step));
  if (auto below = check_below(step.target); !below) return below;
  step.park = std::move(park);
  return approve_below(step, [] {});
}

void SessionActor::forget_step(ParkId step, Task done) {
  post([this, step = std::move(step), done = std::move(done)]() mutable {
    feed(driver::StepDecidedBelow{step});
    if (!origin_.above) return done();
    origin_.above->forget_step(std::move(step), std::move(done));
  });
}

Result<Approvals> SessionActor::decide_below(const Approvals& approvals, const Author& author) {
  Approvals own;
  std::vector<StepApproval> below;
  for (const auto& [id_given, approval] : approvals) {
    auto [session, park] = split_id(id_given);
    if (session.empty() || session == id()) {
      own.emplace_back(std::move(park), approval);
    } else {
      below.push_back({std::move(session), std::move(park), approval, author});
    }
  }
  if (below.empty()) return own;
  auto checked = query([&](const State& s) { return approval_records(s, own, author); });
  if (!checked) return fail(checked.error());
  for (const StepApproval& step : below) {
    if (auto possible = check_approval(step); !possible) return fail(possible.error());
  }
  for (const StepApproval& step : below) {
    std::promise<void> known;
    const auto approved = approve_below(step, [&known] { known.set_value(); });
    const WaitForTasks wait;
    known.get_future().wait();
    if (!approved) return fail(approved.error());
  }
  return own;
}

}  // namespace praxis
