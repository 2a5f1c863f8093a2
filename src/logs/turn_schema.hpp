// The JSON Schema that a turn takes over from the turns before it.
#pragma once

#include <cstdint>
#include <vector>

#include "praxis/logs/logs.hpp"

namespace praxis {

/// What the next turn of a session answers.
enum class NextTurn : std::uint8_t {
  kMessage,       ///< a message of the caller
  kConversation,  ///< the conversation as it stands
};

/// Returns the JSON Schema that the answer of the next turn has to match unless the caller names another;
/// null: free text. For a message: that of the last turn with a message of the caller, so that queued and
/// late messages, which have none, change nothing. For the conversation: that of the last turn if it did not
/// succeed and no message was added since. Turns that a rewind removed do not count.
Json schema_of_next_turn(const std::vector<StoredRecord>& records, NextTurn next);

/// The same for a session whose last record is `last`. Reads its log from the end, no further than needed.
/// Error `kJournal`.
Result<Json> read_schema_of_next_turn(Journal& journal, const SessionId& session, std::uint64_t last,
                                      NextTurn next);

}  // namespace praxis
