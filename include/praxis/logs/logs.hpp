// What can be done with a journal without running anything: look, fork, replay, export, import.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/environment.hpp"
#include "praxis/core/event.hpp"
#include "praxis/core/state.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis {

/// A record with its place in the log.
struct StoredRecord {
  std::uint64_t seq = 0;
  Record record;
};

/// Reads and decodes a session's records with `seq >= from`. Error `kJournal`.
Result<std::vector<StoredRecord>> read_records(Journal& journal, const SessionId& session,
                                               std::uint64_t from = 1);
/// The state after the first `count` records (all when 0).
Result<State> fold(const std::vector<StoredRecord>& records, std::uint64_t count = 0);

/// A session id from what a person typed: the whole id, a unique prefix or suffix of at least 4 characters,
/// or `last`, the newest that is no sub-agent. Error `kInput` lists the candidates.
Result<SessionId> find_session(Journal& journal, std::string_view text);

/// A new session with the records up to `seq` (all when 0) of another, which stays untouched. What was in
/// flight there is in doubt in the fork. The fork's id comes from `environment`.
Result<SessionId> fork_session(Journal& journal, Environment& environment, const SessionId& session,
                               std::uint64_t seq = 0);
/// Takes a session's conversation back to before `turn`, without a model or tools at hand. Errors as
/// `check_rewind`, or `kJournal`.
Status rewind_session(Journal& journal, Environment& environment, const SessionId& session,
                      const TurnId& turn);
/// The seq after which step `step` of the last turn that reached it was complete. Error `kInput`.
Result<std::uint64_t> seq_of_step(const std::vector<StoredRecord>& records, std::uint32_t step);

/// Where a replay first differs from the log.
struct Divergence {
  std::uint64_t seq = 0;
  std::string field;     ///< `kind`, `request.history`, `request.tools`, ...
  std::string expected;  ///< as recorded
  std::string found;     ///< as derived now
};
struct ReplayReport {
  std::uint64_t records = 0;  ///< records replayed
  std::uint64_t derived = 0;  ///< of them, those that were derived again and compared
  std::optional<Divergence> divergence;
};
/// Replays a log offline: inputs come from the log, everything the core derives is derived again and
/// compared. With `agent`, as if the session had been made with that description. Error `kJournal` for a log
/// that cannot be read; a difference is not an error.
Result<ReplayReport> replay(const std::vector<StoredRecord>& records, const AgentSpec* agent = nullptr);

/// JSON Lines: a header, then one record a line with blobs inline; `import_session` checks and re-chains
/// them.
Result<std::string> export_session(Journal& journal, const SessionId& session);
/// Error `kInput` for a file that is not an export, naming the line; `kJournal` `exists` when the id is
/// taken.
Result<SessionId> import_session(Journal& journal, std::string_view text);

}  // namespace praxis
