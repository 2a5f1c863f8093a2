// The end of a journal that was acknowledged last, kept in the file `<journal>.head`
// (docs/journal-format.md). The journal's own files cannot show that they lost their end: SQLite ignores
// everything in its log after the first damaged byte. The head file is never synced, so after a power loss it
// may be old, torn or missing; then it proves less, but nothing wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/digest.hpp"
#include "praxis/base/result.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// Where a journal ends. It is at this point or further if it holds the entry with this hash, and these
/// messages.
struct JournalHead {
  std::int64_t entry = 0;    ///< highest `id` in `chain`; 0: no entry
  Digest hash;               ///< of that entry
  std::uint64_t seq = 0;     ///< of that entry in its session
  std::string session;       ///< name of its session; `-` if it has spaces or more than 80 bytes
  std::int64_t message = 0;  ///< highest `id` given to a message
  std::int64_t answer = 0;   ///< highest `answered` of a message

  bool operator==(const JournalHead&) const = default;
};

using JournalHeads = std::vector<JournalHead>;

/// Where the journal that `database` reads ends now.
Result<JournalHead> select_journal_head(Database& database);
/// One line without its end, with a checksum.
std::string to_text(const JournalHead& head);
/// `std::nullopt` if the text is not such a line, or its checksum is wrong.
std::optional<JournalHead> parse_journal_head(std::string_view text);

/// Writes heads of one open journal. Each writer has a slot of its own in the file, so no lock is needed and
/// none writes an older head over a newer one, unless more than `kSlots` write at once. Not thread-safe.
class HeadFile {
 public:
  static constexpr std::int64_t kSlots = 64;
  static constexpr std::size_t kSlotBytes = 256;

  /// Opens the file of `journal` for the writer with this number in `owners`; creates it with mode 0600.
  /// Error `io`.
  static Result<HeadFile> open(const std::string& journal, std::int64_t owner);
  HeadFile(HeadFile&& other) noexcept;
  HeadFile& operator=(HeadFile&&) = delete;
  ~HeadFile();

  /// Call it when everything up to `head` is durable and visible to all processes. Ignores errors: without
  /// the line the file only proves less.
  void write(const JournalHead& head) const;

 private:
  HeadFile(int file, std::int64_t slot) : file_(file), slot_(slot) {}

  int file_;
  std::int64_t slot_;
};

/// The heads that the writers of a journal have acknowledged, in no order; empty without a head file. Read
/// them before the state that is compared with them.
JournalHeads acknowledged_heads(const std::string& journal);
/// Whether the journal is at all of these heads or further. Error `corrupt` if not, which names what is lost.
/// `database` may be of any format.
Status check_acknowledged(Database& database, const JournalHeads& heads);
/// How many of the records that a session had at this head are left; all of them if they are damaged in
/// place.
Result<std::uint64_t> records_left(Database& database, const JournalHead& head);
/// Replaces all heads by `head`, durably. Errors `io`, `full`.
Status replace_heads(const std::string& journal, const JournalHead& head);
/// Forgets the heads of an earlier journal with this name, durably, before a new one is created. Errors `io`,
/// `full`.
Status forget_heads(const std::string& journal);

}  // namespace praxis
