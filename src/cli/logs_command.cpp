// `logs`: the events of a run, computed from its journal; with `--follow` as the run makes them, in any
// process.
#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "app/envelope.hpp"
#include "app/plain_text.hpp"
#include "app/values.hpp"
#include "app/without_secrets.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
#include "cli/place.hpp"
#include "core/project.hpp"
#include "policy/event_texts.hpp"
#include "praxis/core/event.hpp"

namespace praxis::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kLookAgain = 100ms;

/// The event's own fields, without the common ones.
std::string event_line(const Event& event) {
  JsonObject own = to_json(event).get_object();
  for (const char* common : {"event", "session", "depth", "parent", "seq", "turn", "step", "time"})
    own.stable_erase(common);
  const std::string payload = own.empty() ? "" : to_json_text(own);
  return fmt::format("{}  {:4} {:>3}  {:19}  {}", to_iso8601(event.time), event.turn.str(), event.step,
                     event_name(event.body), app::one_line(payload, 160));
}

/// Prints the events of one record after the other, as the filters at `shown` leave them.
class EventLog {
 public:
  /// `now` is the run as far as its log was read: the filters of its agent hold for earlier records too.
  EventLog(const LogsOptions& options, Console& console, const app::Workspace& workspace, const State& now)
      : options_(options), console_(console), redactions_(workspace), read_(now.seq) {
    if (now.agent) filters_ = redactions_.filters_of_shown(*now.agent);
  }

  /// Error `kJournal`: the record cannot follow those before it.
  Status add(const std::vector<StoredRecord>& records) {
    for (const StoredRecord& stored : records) {
      if (auto applied = apply_to(state_, stored.record); !applied) return applied;
      const auto* const changed = std::get_if<records::Intervened>(&stored.record.body);
      if (stored.seq > read_ && changed != nullptr && changed->agent)
        filters_ = redactions_.filters_of_shown(*state_.agent);
      if (stored.seq < options_.from) continue;
      for (Event& event : project(stored.record, state_)) {
        redact_event(event, filters_);
        if (options_.json) {
          console_.json(app::program_json(event));
        } else {
          console_.out.line(event_line(event));
        }
      }
    }
    return {};
  }
  const State& state() const { return state_; }

 private:
  const LogsOptions& options_;
  Console& console_;
  app::Redactions redactions_;
  redact::Redaction filters_;  ///< at `shown`
  std::uint64_t read_;         ///< the last record that the filters hold for from the beginning
  State state_;
};

/// Why a run is no longer followed.
enum class Ending : std::uint8_t { kTurnOver, kParked, kDeserted, kStopped };

/// Reads a journal again and again until the turn of a run is over or no process works on it.
class Follower {
 public:
  Follower(const app::StoredSession& session, EventLog& log, const Console& console, std::stop_token stop)
      : journal_(*session.journal), id_(session.id), log_(log), console_(console), stop_(std::move(stop)) {}

  Result<Ending> follow() {
    for (;;) {
      const auto row = journal_.session(id_);  // before the records, which then include its last ones
      if (!row) return fail(row.error());
      const auto records = read_records(journal_, id_, log_.state().seq + 1);
      if (!records) return fail(records.error());
      if (auto added = log_.add(*records); !added) return fail(added.error());
      if (const auto ending = ending_of(*row)) return *ending;
      if (console_.out.is_closed() || is_stopped_while_waiting()) return Ending::kStopped;
    }
  }

 private:
  std::optional<Ending> ending_of(const SessionRow& row) {
    const State& state = log_.state();
    const bool goes_on = state.turn || !state.queue.empty();
    if (row.held && goes_on) {
      unheld_ = 0;
      return std::nullopt;
    }
    if (!state.turn) return Ending::kTurnOver;
    // One look could fall between two processes of which one takes over from the other.
    if (++unheld_ < 2) return std::nullopt;
    return state.status() == SessionStatus::kAwaitingUser ? Ending::kParked : Ending::kDeserted;
  }

  bool is_stopped_while_waiting() {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop_, kLookAgain, [] { return false; });
    return stop_.stop_requested();
  }

  Journal& journal_;
  const SessionId id_;
  EventLog& log_;
  const Console& console_;
  std::stop_token stop_;
  int unheld_ = 0;  ///< looks in a row at which no process had the run open
  std::mutex mutex_;
  std::condition_variable_any wake_;
};

Result<ExitStatus> follow_log(const app::StoredSession& session, EventLog& log,
                              const app::Workspace& workspace, const Interrupts& interrupts,
                              Console& console) {
  const auto ending = Follower(session, log, console, interrupts.stop_token()).follow();
  if (!ending) return fail(ending.error());
  const SessionId& id = session.id;
  switch (*ending) {
    case Ending::kTurnOver:
      break;
    case Ending::kStopped:
      if (interrupts.received() == 0) break;  // the reader has gone
      return exit_status(Error{ErrorCode::kCancelled, "stopped"}, interrupts.received());
    case Ending::kParked:
      console.err.line(
          fmt::format("{} waits for a human, and no process runs it now: praxis approve", id.str()));
      return ExitStatus::kParked;
    case Ending::kDeserted:
      console.err.line(fmt::format("{} was interrupted: its process has ended. Resume it with {}", id.str(),
                                   app::resume_command(workspace, id)));
      return ExitStatus::kFailed;
  }
  return ExitStatus::kFinished;
}

}  // namespace

Result<ExitStatus> execute(const LogsOptions& options, Console& console) {
  std::optional<Interrupts> interrupts;  // before any thread of the journal
  if (options.follow) {
    interrupts.emplace();
    interrupts->on_first([] {});
  }
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto stored = app::open_session(*workspace, options.id, app::JournalUse::kLook);
  if (!stored) return fail(stored.error());
  console.result({{"run_id", stored->id.str()}});
  EventLog log(options, console, *workspace, stored->state);
  if (auto added = log.add(stored->records); !added) return fail(added.error());
  if (!interrupts) return ExitStatus::kFinished;
  return follow_log(*stored, log, *workspace, *interrupts, console);
}

}  // namespace praxis::cli
