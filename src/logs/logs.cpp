#include "praxis/logs/logs.hpp"

#include <algorithm>
#include <future>
#include <ranges>

#include "base/ascii.hpp"
#include "logs/append.hpp"
#include "logs/log_writer.hpp"
#include "logs/read_part.hpp"
#include "logs/read_state.hpp"

namespace praxis {
namespace {

constexpr std::size_t kShortestPart = 4;

/// Compares without case, as users may type an id.
bool is_same(std::string_view a, std::string_view b) { return lower_case(a) == lower_case(b); }

}  // namespace

Status append_and_wait(Journal& journal, Append append) {
  std::promise<Status> done;
  journal.append(std::move(append), [&done](const Result<std::uint64_t>& seq) {
    done.set_value(seq ? Status{} : Status(fail(seq.error())));
  });
  return done.get_future().get();
}

Result<std::vector<StoredRecord>> read_records(Journal& journal, const SessionId& session,
                                               std::uint64_t from) {
  return read_some_records(journal, session, from, 0);
}

Result<std::vector<Entry>> read_some_entries(Journal& journal, const SessionId& session, std::uint64_t from,
                                             std::size_t limit) {
  auto entries = journal.read(session, from, limit);
  if (entries && entries->empty() && from <= 1) {
    return fail(ErrorCode::kJournal,
                "session " + session.str() +
                    " has no records: the process that created it ended before it wrote any");
  }
  return entries;
}

Result<StoredRecord> decode_entry(Journal& journal, const SessionId& session, const Entry& entry) {
  auto body = decode_record(entry.kind, entry.body,
                            [&journal](const Digest& digest) { return journal.blob(digest); });
  if (body) return StoredRecord{entry.seq, {entry.time, *std::move(body)}};
  Error error = std::move(body.error());
  error.message = "session " + session.str() + ", record " + std::to_string(entry.seq) + ": " + error.message;
  return fail(std::move(error));
}

Result<std::vector<StoredRecord>> read_some_records(Journal& journal, const SessionId& session,
                                                    std::uint64_t from, std::size_t limit) {
  const auto entries = read_some_entries(journal, session, from, limit);
  if (!entries) return fail(entries.error());
  std::vector<StoredRecord> records;
  records.reserve(entries->size());
  for (const Entry& entry : *entries) {
    auto record = decode_entry(journal, session, entry);
    if (!record) return fail(std::move(record.error()));
    records.push_back(*std::move(record));
  }
  return records;
}

Result<State> fold(const std::vector<StoredRecord>& records, std::uint64_t count) {
  State state;
  for (const StoredRecord& stored : records) {
    if (count != 0 && stored.seq > count) break;
    if (auto applied = apply_to(state, stored.record); !applied) return fail(applied.error());
  }
  return state;
}

Result<State> read_state(Journal& journal, const SessionId& session) {
  const auto records = read_records(journal, session);
  if (!records) return fail(records.error());
  return fold(*records);
}

Result<SessionId> find_session(Journal& journal, std::string_view text) {
  // A whole id needs no list of all sessions.
  if (SessionId whole{std::string(text)}; !is_same(text, "last") && journal.session(whole)) return whole;
  auto rows = journal.sessions();
  if (!rows) return fail(rows.error());
  if (rows->empty()) return fail(ErrorCode::kInput, "the journal holds no session yet");
  if (is_same(text, "last")) {
    const auto root = std::ranges::find_if(*rows, [](const SessionRow& row) { return row.parent.empty(); });
    return root == rows->end() ? rows->front().id : root->id;
  }
  std::vector<SessionId> candidates;
  for (const SessionRow& row : *rows) {
    const std::string& id = row.id.str();
    if (row.name == text && !text.empty()) return row.id;
    if (text.size() < kShortestPart || text.size() > id.size()) continue;
    const std::string_view whole = id;
    if (is_same(whole.substr(0, text.size()), text) ||
        is_same(whole.substr(whole.size() - text.size()), text))
      candidates.push_back(row.id);
  }
  if (candidates.size() == 1) return candidates.front();
  const std::string typed = '"' + std::string(text) + '"';
  if (text.size() < kShortestPart) {
    return fail(ErrorCode::kInput,
                typed +
                    " is no name of a session and is too short for a part of a session's id; "
                    "give at least " +
                    std::to_string(kShortestPart) + " characters");
  }
  if (candidates.empty()) return fail(ErrorCode::kInput, "no session is called " + typed);
  constexpr std::size_t kMostNamed = 8;
  std::string names;
  for (const SessionId& id : candidates | std::views::take(kMostNamed)) names += " " + id.str();
  if (candidates.size() > kMostNamed)
    names += " and " + std::to_string(candidates.size() - kMostNamed) + " more";
  return fail(ErrorCode::kInput, "\"" + std::string(text) + "\" matches several sessions:" + names);
}

namespace {

/// The last seq after which step `step` was complete, of the turn `turn`, or of any if that is empty; 0:
/// none.
Result<std::uint64_t> last_seq_of_step(const std::vector<StoredRecord>& records, const TurnId& turn,
                                       std::uint32_t step) {
  State state;
  std::uint64_t found = 0;
  for (const StoredRecord& stored : records) {
    if (auto applied = apply_to(state, stored.record); !applied) return fail(applied.error());
    if (!state.turn || (!turn.empty() && state.turn->id != turn)) continue;
    // A compaction belongs before the next step, not after this one.
    const bool shortens = std::holds_alternative<records::Compacted>(stored.record.body) ||
                          state.turn->summary || state.turn->summary_failed;
    const bool complete = state.turn->step == step && !state.turn->in_flight() && state.turn->calls.empty() &&
                          !state.turn->effect && !shortens;
    if (complete) found = stored.seq;
  }
  return found;
}

}  // namespace

Result<std::uint64_t> seq_of_turn(const std::vector<StoredRecord>& records, const TurnId& turn,
                                  std::uint32_t step) {
  std::uint64_t ended = 0;
  for (const StoredRecord& stored : records) {
    const auto* settled = std::get_if<records::TurnSettled>(&stored.record.body);
    if (settled != nullptr && settled->turn == turn) ended = stored.seq;
  }
  if (step == 0 && ended != 0) return ended;
  const auto found = step == 0 ? Result<std::uint64_t>(0) : last_seq_of_step(records, turn, step);
  if (!found || *found != 0) return found;
  return fail(ErrorCode::kInput, step == 0 ? "no turn \"" + turn.str() + "\" of the run has ended"
                                           : "no turn \"" + turn.str() + "\" of the run completed a step " +
                                                 std::to_string(step));
}

Result<std::uint64_t> seq_of_step(const std::vector<StoredRecord>& records, std::uint32_t step) {
  const auto last = last_seq_of_step(records, {}, step);
  if (!last) return last;
  const std::uint64_t found = *last;
  if (found == 0)
    return fail(ErrorCode::kInput, "no turn of the session completed a step " + std::to_string(step));
  return found;
}

Status rewind_session(Journal& journal, Environment& environment, const SessionId& session,
                      const TurnId& turn) {
  return record_in_log(journal, environment, session,
                       [&](const State& state) -> Result<std::vector<RecordBody>> {
                         if (auto possible = check_rewind(state, turn); !possible)
                           return fail(possible.error());
                         return std::vector<RecordBody>{
                             records::Intervened{CommandVerb::kRewind, turn.str(), nullptr, by_library()}};
                       });
}

}  // namespace praxis
