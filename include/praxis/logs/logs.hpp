// Operations on recorded sessions that run no agent: read, fork, rewind, replay, export, import.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/environment.hpp"
#include "praxis/core/records.hpp"
#include "praxis/journal/journal.hpp"

#pragma GCC visibility push(default)
namespace praxis {

class Planner;  // praxis/core/planner.hpp
struct State;   // praxis/core/state.hpp

/// A record with its place in the log.
struct StoredRecord {
  std::uint64_t seq = 0;
  Record record;
};

/// Reads and decodes a session's records with `seq >= from`. Error `kJournal`.
Result<std::vector<StoredRecord>> read_records(Journal& journal, const SessionId& session,
                                               std::uint64_t from = 1);
/// Returns the state after the first `count` records (all if 0).
Result<State> fold(const std::vector<StoredRecord>& records, std::uint64_t count = 0);

/// Returns the whole conversation that the records hold, also what was cut or summarised for the model since.
/// Leaves out summaries, and messages that a rewind took back. Error `kJournal`.
Result<Conversation> transcript(const std::vector<StoredRecord>& records);

/// Resolves what a user types for a session: the whole id, its name (`Journal::label`), a unique prefix or
/// suffix of the id of at least 4 characters, or `last`, the newest session that is not a sub-agent. Error
/// `kInput` lists the candidates.
Result<SessionId> find_session(Journal& journal, std::string_view text);

/// Creates a session with the records up to `seq` (all if 0) of another session, which does not change.
/// Effects in flight there are in doubt in the fork. The fork's id comes from `environment`.
Result<SessionId> fork_session(Journal& journal, Environment& environment, const SessionId& session,
                               std::uint64_t seq = 0);
/// Takes a session's conversation back to before `turn`; needs neither model nor tools. Errors as
/// `check_rewind`, or `kJournal`.
Status rewind_session(Journal& journal, Environment& environment, const SessionId& session,
                      const TurnId& turn);
/// Returns the seq after which step `step` was complete, in the last turn that reached that step. Error
/// `kInput`.
Result<std::uint64_t> seq_of_step(const std::vector<StoredRecord>& records, std::uint32_t step);
/// Returns the seq after which turn `turn` had completed step `step`, or had ended if `step` is 0. Error
/// `kInput`.
Result<std::uint64_t> seq_of_turn(const std::vector<StoredRecord>& records, const TurnId& turn,
                                  std::uint32_t step = 0);

/// The first difference between a replay and the log.
struct Divergence {
  std::uint64_t seq = 0;
  std::string field;     ///< `kind`, `request.history`, `request.tools`, ...
  std::string expected;  ///< as recorded
  std::string found;     ///< as derived now
};
struct ReplayReport {
  std::uint64_t records = 0;  ///< records replayed
  std::uint64_t derived = 0;  ///< how many of them were derived again and compared
  std::optional<Divergence> divergence;
};
/// Replays a log offline: takes inputs from the log, derives every conclusion of the core again and compares
/// it. With `agent`, as if the session had been created with that description. `planner` is the one of the
/// program (`Agent::planner`), for sessions that followed it; with a reflector, the `ReflectPlanner` of both.
/// Errors: `kJournal` if the log cannot be read, `kInput` if such a planner is missing; a difference is not
/// an error.
Result<ReplayReport> replay(const std::vector<StoredRecord>& records, const AgentSpec* agent = nullptr,
                            std::shared_ptr<const Planner> planner = nullptr);

/// Exports a session as JSON Lines: a header, then one record a line, with blobs inline.
Result<std::string> export_session(Journal& journal, const SessionId& session);
/// Imports an export: checks its records and chains them again. Error `kInput` for an invalid file, naming
/// the line; `kJournal` `exists` if the id is taken.
Result<SessionId> import_session(Journal& journal, std::string_view text);

}  // namespace praxis
#pragma GCC visibility pop
