#include "journal/acknowledged.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/file_descriptor.hpp"
#include "base/out_of_space.hpp"
#include "base/regular_file.hpp"
#include "journal/chain.hpp"

namespace praxis {
namespace {

constexpr std::string_view kMagic = "praxis-head", kVersion = "1";
constexpr std::size_t kFields = 9;
constexpr std::size_t kChecksumBytes = 8, kLongestSession = 80;
constexpr std::int64_t kFirstFormatWithIds = 3;

std::string path_of(const std::string& journal) { return journal + ".head"; }

std::string checksum(std::string_view text) { return digest_of(text).hex(kChecksumBytes); }

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size();
}

/// Splits at single spaces; empty unless there are exactly `kFields`.
std::vector<std::string_view> fields_of(std::string_view text) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t end = text.find(' ');
    fields.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if (fields.size() != kFields) fields.clear();
  return fields;
}

bool is_plain(std::string_view name) {
  return !name.empty() && name.size() <= kLongestSession &&
         std::ranges::all_of(name, [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string line_of(const JournalHead& head) {
  std::string line = to_text(head);
  line.resize(HeadFile::kSlotBytes - 1, ' ');
  return line += '\n';
}

Error cannot(const std::string& doing, const std::string& path) {
  const int cause = errno;
  return journal_error(kind_of_write_error(cause),
                       "cannot " + doing + " " + path + ": " + std::strerror(cause), is_out_of_space(cause));
}

Result<std::int64_t> number_from(Database& database, std::string_view sql) {
  Query query(database, sql);
  if (auto row = query.next(); !row) return fail(std::move(row.error()));
  return query.integer(0);
}

/// Whether the entry that the head names is there, unchanged.
Result<bool> has_entry(Database& database, const JournalHead& head) {
  const auto format = number_from(database, "PRAGMA user_version");
  if (!format) return fail(format.error());
  if (*format < kFirstFormatWithIds) return false;
  Query query(database, "SELECT hash FROM chain WHERE id = ?1", head.entry);
  auto row = query.next();
  if (!row) return row;
  return *row && query.digest(0) == head.hash;
}

/// The end of the session that the head names, as its row has it; 0 without one.
struct SessionEnd {
  std::uint64_t seq = 0;
  Digest hash;
};

SessionEnd end_of_session(Database& database, const JournalHead& head) {
  Query query(database, "SELECT head_seq, head_hash FROM sessions WHERE name = ?1",
              std::string_view(head.session));
  if (!query.next().value_or(false)) return {};
  return {query.number(0), query.digest(1)};
}

/// Whether the session of the head was removed, at that point of its log or later. False in older formats.
Result<bool> was_removed(Database& database, const JournalHead& head) {
  const auto known = number_from(database, "SELECT count(*) FROM sqlite_schema WHERE name = 'removed'");
  if (!known || *known == 0) return known ? Result<bool>(false) : fail(known.error());
  Query query(database, "SELECT 1 FROM removed WHERE name = ?1 AND head_seq >= ?2",
              std::string_view(head.session), head.seq);
  return query.next();
}

Error lost(const std::string& path, const std::string& what) {
  return journal_error(ErrorKind::kCorrupt, "journal " + path + " lost its end: " + what +
                                                ". Restore the journal and its -wal, or accept the loss with "
                                                "praxis doctor --accept-loss");
}

Status check_entry(Database& database, const JournalHead& head) {
  const auto left = records_left(database, head);
  if (!left) return fail(left.error());
  if (*left >= head.seq) return {};
  const std::string end =
      *left == 0 ? "the file has none of its records" : "the file ends at " + std::to_string(*left);
  return fail(lost(database.path(), "record " + std::to_string(head.seq) + " of session " + head.session +
                                        " was acknowledged, " + end)
                  .set("session", head.session)
                  .set("seq", static_cast<std::int64_t>(head.seq)));
}

/// Checks the number that a message got, or its answer.
Status check_number(Database& database, std::string_view sql, std::string_view what, std::int64_t expected) {
  if (expected == 0) return {};
  const auto found = number_from(database, sql);
  if (!found) return fail(found.error());
  if (*found >= expected) return {};
  return fail(lost(database.path(), std::string(what) + " " + std::to_string(expected) +
                                        " was acknowledged, the file ends at " + std::to_string(*found)));
}

Status write_synced(const FileDescriptor& file, const std::string& path, std::string_view bytes) {
  if (ftruncate(file.get(), 0) != 0) return fail(cannot("cut", path));
  if (pwrite(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail(cannot("write", path));
  return fdatasync(file.get()) == 0 ? Status{} : fail(cannot("sync", path));
}

constexpr std::string_view kLastMessage =
    "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'mail'";
constexpr std::string_view kLastAnswer = "SELECT coalesce(max(answered), 0) FROM mail";

}  // namespace

Result<JournalHead> select_journal_head(Database& database) {
  JournalHead head;
  {
    Query query(database,
                "SELECT c.id, c.hash, c.seq, s.name FROM chain c LEFT JOIN sessions s ON s.id = c.session "
                "ORDER BY c.id DESC LIMIT 1");
    auto row = query.next();
    if (!row) return fail(std::move(row.error()));
    if (*row) {
      head.entry = query.integer(0);
      head.hash = query.digest(1);
      head.seq = query.number(2);
      head.session = query.text(3);
    }
  }
  if (!is_plain(head.session)) head.session = "-";
  const auto message = number_from(database, kLastMessage);
  if (!message) return fail(message.error());
  const auto answer = number_from(database, kLastAnswer);
  if (!answer) return fail(answer.error());
  head.message = *message;
  head.answer = *answer;
  return head;
}

std::string to_text(const JournalHead& head) {
  std::string text;
  text.reserve(HeadFile::kSlotBytes);
  text.append(kMagic).append(" ").append(kVersion);
  text.append(" ").append(std::to_string(head.entry)).append(" ").append(head.hash.hex());
  text.append(" ").append(std::to_string(head.seq)).append(" ").append(head.session);
  text.append(" ").append(std::to_string(head.message)).append(" ").append(std::to_string(head.answer));
  const std::string sum = checksum(text);
  text.append(" ").append(sum);
  return text;
}

std::optional<JournalHead> parse_journal_head(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \n") + 1);
  const auto fields = fields_of(text);
  if (fields.empty() || fields[0] != kMagic || fields[1] != kVersion) return std::nullopt;
  if (checksum(text.substr(0, text.size() - fields[8].size() - 1)) != fields[8]) return std::nullopt;
  const auto hash = Digest::from_hex(fields[3]);
  JournalHead head;
  head.hash = hash.value_or(Digest{});
  head.session = fields[5];
  if (!hash || !read_number(fields[2], head.entry) || !read_number(fields[4], head.seq) ||
      !read_number(fields[6], head.message) || !read_number(fields[7], head.answer))
    return std::nullopt;
  return head;
}

Result<HeadFile> HeadFile::open(const std::string& journal, std::int64_t owner) {
  const auto path = path_of(journal);
  FileDescriptor file = open_state_file(path, O_RDWR | O_CREAT);
  if (file.get() < 0) return fail(cannot("open", path));
  return HeadFile(file.release(), owner % kSlots);
}

HeadFile::HeadFile(HeadFile&& other) noexcept : file_(std::exchange(other.file_, -1)), slot_(other.slot_) {}

HeadFile::~HeadFile() {
  if (file_ >= 0) close(file_);
}

void HeadFile::write(const JournalHead& head) const {
  const std::string line = line_of(head);
  std::ignore = pwrite(file_, line.data(), line.size(), slot_ * static_cast<std::int64_t>(kSlotBytes));
}

JournalHeads acknowledged_heads(const std::string& journal) {
  JournalHeads heads;
  const FileDescriptor file = open_state_file(path_of(journal), O_RDONLY);
  if (file.get() < 0) return heads;
  std::array<char, HeadFile::kSlots * HeadFile::kSlotBytes> bytes;
  const ssize_t size = pread(file.get(), bytes.data(), bytes.size(), 0);
  std::string_view left(bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  for (; !left.empty(); left.remove_prefix(std::min(left.size(), HeadFile::kSlotBytes))) {
    if (auto head = parse_journal_head(left.substr(0, HeadFile::kSlotBytes)))
      heads.push_back(*std::move(head));
  }
  return heads;
}

Status check_acknowledged(Database& database, const JournalHeads& heads) {
  if (heads.empty()) return {};
  const JournalHead& last = *std::ranges::max_element(heads, {}, &JournalHead::entry);
  if (auto checked = check_entry(database, last); !checked) return checked;
  const auto message = std::ranges::max(heads, {}, &JournalHead::message).message;
  if (auto checked = check_number(database, kLastMessage, "message", message); !checked) return checked;
  const auto answer = std::ranges::max(heads, {}, &JournalHead::answer).answer;
  return check_number(database, kLastAnswer, "answer", answer);
}

/// An entry that is damaged or missing although the row of its session names it is found when that session is
/// read; the other sessions stay readable.
Result<std::uint64_t> records_left(Database& database, const JournalHead& head) {
  if (head.entry == 0) return head.seq;
  const auto there = has_entry(database, head);
  if (!there) return fail(there.error());
  if (!*there) {
    const auto removed = was_removed(database, head);
    if (!removed || *removed) return removed ? Result<std::uint64_t>(head.seq) : fail(removed.error());
  }
  const SessionEnd end = *there ? SessionEnd{head.seq, head.hash} : end_of_session(database, head);
  return end.seq == head.seq && end.hash != head.hash ? head.seq - 1 : std::min(end.seq, head.seq);
}

Status replace_heads(const std::string& journal, const JournalHead& head) {
  const auto path = path_of(journal);
  const FileDescriptor file = open_state_file(path, O_RDWR | O_CREAT);
  if (file.get() < 0) return fail(cannot("open", path));
  return write_synced(file, path, line_of(head));
}

Status forget_heads(const std::string& journal) {
  const auto path = path_of(journal);
  const FileDescriptor file = open_state_file(path, O_RDWR);
  if (file.get() < 0) return errno == ENOENT ? Status{} : fail(cannot("open", path));
  return lseek(file.get(), 0, SEEK_END) == 0 ? Status{} : write_synced(file, path, "");
}

}  // namespace praxis
