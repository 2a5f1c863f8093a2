// A part of a session's log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "praxis/logs/logs.hpp"

namespace praxis {

/// `read_records`, but at most `limit` records (0: all).
Result<std::vector<StoredRecord>> read_some_records(Journal& journal, const SessionId& session,
                                                    std::uint64_t from, std::size_t limit);

/// The same, not yet decoded: a long log takes less memory and time if each record is decoded when it is
/// used.
Result<std::vector<Entry>> read_some_entries(Journal& journal, const SessionId& session, std::uint64_t from,
                                             std::size_t limit);
/// Decodes one entry of a session. Error `kJournal` names the session and the record.
Result<StoredRecord> decode_entry(Journal& journal, const SessionId& session, const Entry& entry);

}  // namespace praxis
