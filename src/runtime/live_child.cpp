#include "runtime/live_child.hpp"

#include <future>
#include <optional>

#include "base/worker_pool.hpp"
#include "praxis/logs/logs.hpp"
#include "runtime/call_scope.hpp"

namespace praxis {
namespace {

/// A turn that the log already holds.
struct RecordedTurn {
  std::string prompt;
  std::optional<AgentResult> result;  ///< empty while the turn is in progress
};

using MaybeTurn = std::optional<RecordedTurn>;

/// Returns turn number `index` of a session, counted from 0, or nothing when the log does not hold it. Error
/// `kJournal`.
Result<MaybeTurn> recorded_turn(Journal& journal, const SessionId& session, std::size_t index) {
  const auto row = journal.session(session);
  const bool is_new = row ? row->entries == 0 : row.error().kind() == ErrorKind::kNotFound;
  if (is_new) return MaybeTurn();  // its first record is not durable yet
  if (!row) return fail(row.error());
  const auto records = read_records(journal, session);
  if (!records) return fail(records.error());
  MaybeTurn turn;
  std::size_t begun = 0;
  for (const StoredRecord& stored : *records) {
    if (std::holds_alternative<records::TurnStarted>(stored.record.body) && begun++ == index) turn.emplace();
    if (!turn) continue;
    const auto* said = std::get_if<records::MessageAppended>(&stored.record.body);
    if (said != nullptr && said->source == MessageSource::kUser && turn->prompt.empty())
      turn->prompt = said->message->text();
    if (!std::holds_alternative<records::TurnSettled>(stored.record.body)) continue;
    auto state = fold(*records, stored.seq);
    if (!state) return fail(state.error());
    turn->result = result_of(*state);
    return turn;
  }
  return turn;
}

}  // namespace

std::unexpected<Error> call_cancelled() { return fail(ErrorCode::kCancelled, "the call was asked to stop"); }

Status LiveChild::start(std::string prompt) {
  try {
    return begin_turn(std::move(prompt));
  } catch (const std::bad_alloc&) {
    actor_->fault(out_of_memory());
    return fail(out_of_memory());
  }
}

Status LiveChild::begin_turn(std::string prompt) {
  if (actor_->cancelled_above()) return call_cancelled();
  std::unique_lock lock(mutex_);
  if (turn_ && !turn_->finished()) {
    return fail(ErrorCode::kInput,
                "sub-agent " + id().str() + " is in the middle of a turn; wait for it before the next");
  }
  const auto found = recorded_turn(*actor_->services()->options.journal, id(), started_);
  if (!found) {
    actor_->fault(found.error());
    return fail(found.error());
  }
  ++started_;
  const auto turn = turn_ = std::make_shared<EventQueue>(false, EventQueue::Until::kEnd);
  lock.unlock();  // `turn` may call its callbacks at once
  const MaybeTurn& recorded = *found;
  if (!recorded || recorded->prompt != actor_->filtered(prompt)) {
    std::vector<Message> messages;
    messages.push_back(text_message(Role::kUser, std::move(prompt)));
    actor_->start_turn(std::move(messages), turn);
  } else if (recorded->result) {
    actor_->report_last_turn();
    turn->finish(*recorded->result);
  } else {
    actor_->resume(turn, [](const State&) { return std::vector<RecordBody>{}; });
  }
  return {};
}

Result<std::shared_ptr<EventQueue>> LiveChild::last_turn() const {
  const std::lock_guard lock(mutex_);
  if (turn_) return turn_;
  return fail(ErrorCode::kInput, "sub-agent " + id().str() + " has no turn to wait for; start one first");
}

Result<AgentResult> LiveChild::wait() {
  const auto turn = last_turn();
  if (!turn) return fail(turn.error());
  return (*turn)->result();
}

void LiveChild::on_end(ReportDone done) {
  const auto turn = last_turn();
  if (!turn) return done(fail(turn.error()));
  (*turn)->on_result(std::move(done));
}

void LiveChild::stop_with(const SessionActor& above) {
  actor_->retire();  // first: when its turn ends, a queued message would begin the next one
  if (above.usable()) {
    actor_->interrupt();
  } else {
    actor_->abandon();
  }
}

void LiveChild::close() {
  std::promise<void> at_rest;
  actor_->when_settled([&at_rest] { at_rest.set_value(); });
  const WaitForTasks wait;
  at_rest.get_future().wait();
}

}  // namespace praxis
