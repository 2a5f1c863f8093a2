// What a damaged log of SQLite proves about records behind the damage. SQLite ignores everything in its log
// after the first frame that is not sound. A power loss leaves such frames too, at the end: a commit that was
// not yet synced. But a frame that continues the checksum of a commit was written after that commit was
// visible to other connections, and a commit that holds records is visible only once it is synced. So the
// records of a commit with such a successor were acknowledged, even if something before it is damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "journal/acknowledged.hpp"
#include "praxis/base/digest.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// A row of `chain`, as a page of a log has it.
struct LoggedEntry {
  std::int64_t entry = 0;    ///< `id`
  std::int64_t session = 0;  ///< number of its session
  std::uint64_t seq = 0;
  Digest hash;

  bool operator==(const LoggedEntry&) const = default;
};

/// Fills the bytes from a place in a log; false if the log ends before, or cannot be read.
using ReadLog = std::function<bool(std::span<char> bytes, std::int64_t at)>;

/// Returns the last entry that a log proves to have been acknowledged behind a damaged frame or
/// header; `std::nullopt` if the log is sound up to its end, or nothing behind the damage proves it.
std::optional<LoggedEntry> entry_behind_damage(const ReadLog& log);
/// The same for the log of a journal; `std::nullopt` without one. Only what is read of the journal afterwards
/// may be compared with it.
std::optional<LoggedEntry> entry_behind_damage_of(const std::string& journal);
/// The entry as a head, with the name that its session has in `database`, or else `-`.
JournalHead head_of(Database& database, const LoggedEntry& entry);

}  // namespace praxis
