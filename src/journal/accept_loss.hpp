// Repairs a journal that is shorter than what was acknowledged (journal/acknowledged.hpp), once a human has
// accepted the loss. For one caller at a time, while no process has the journal open for writing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "journal/acknowledged.hpp"

namespace praxis {

/// A session that lost its records from `left + 1` to at least `acknowledged`. Other sessions may have lost
/// records too: of each writer only its last acknowledged commit is known.
struct LostRecords {
  std::string session;
  std::uint64_t left = 0;
  std::uint64_t acknowledged = 0;
};

struct JournalLoss {
  std::vector<LostRecords> sessions;
  std::string error;  ///< what opening the journal reports; empty: nothing is lost
};

/// Where the journal ends now. Errors as of opening it for reading.
Result<JournalHead> head_of_journal(const std::string& path);
/// Whether the journal is at `head` or further. Error `corrupt` if not.
Status check_journal_head(const std::string& path, const JournalHead& head);
/// What the journal has lost; changes nothing. Errors as of opening it for reading.
Result<JournalLoss> find_loss(const std::string& path);
/// Copies the files of the journal to `<path>.damaged-N`, `-wal` and `.head`, then acknowledges what is left
/// of it. Returns the path of the copy. Errors `lease_held` while a process has the journal open for writing,
/// `full`, `io`.
Result<std::string> accept_loss(const std::string& path);

}  // namespace praxis
