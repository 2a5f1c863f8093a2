#include "journal/log_evidence.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "journal/big_endian.hpp"
#include "store/forwarding_vfs.hpp"

namespace praxis {
namespace {

// https://www.sqlite.org/walformat.html and https://www.sqlite.org/fileformat2.html
constexpr std::size_t kHeader = 32, kFrameStart = 24, kUsualPage = 4096;
constexpr std::size_t kSaltsAt = 8, kSumAt = 16, kSumBytes = 8, kSummed = 8;  // in the header of a frame
constexpr std::size_t kHeaderSumAt = 24, kHeaderSaltsAt = 16, kPageSizeAt = 8;
constexpr char kTableLeaf = 0x0D;
constexpr std::uint64_t kNull = 0, kBlobOf32 = 76;  // types of columns
constexpr std::size_t kColumns = 8, kSessionColumn = 1, kSeqColumn = 2, kHashColumn = 5;

using Sum = std::array<std::uint32_t, 2>;

/// Adds bytes to a checksum. Logs are read on the machine that wrote them, so words have its byte order.
Sum add(Sum sum, std::string_view bytes) {
  for (; bytes.size() >= kSumBytes; bytes.remove_prefix(kSumBytes)) {
    std::array<std::uint32_t, 2> words;
    std::memcpy(words.data(), bytes.data(), sizeof words);
    sum[0] += words[0] + sum[1];
    sum[1] += words[1] + sum[0];
  }
  return sum;
}

Sum sum_at(std::string_view bytes, std::size_t at) {
  return {static_cast<std::uint32_t>(big_endian(bytes.substr(at, 4))),
          static_cast<std::uint32_t>(big_endian(bytes.substr(at + 4, 4)))};
}

/// Reads numbers of variable length. After the end of the bytes all are zero, and `failed` is set.
struct Varints {
  std::string_view left;
  bool failed = false;

  std::uint64_t next() {
    std::uint64_t value = 0;
    for (int byte = 0; byte < 9; ++byte) {
      if (left.empty()) {
        failed = true;
        return 0;
      }
      const auto bits = static_cast<unsigned char>(left.front());
      left.remove_prefix(1);
      if (byte == 8) return value << 8 | bits;
      value = value << 7 | (bits & 0x7FU);
      if ((bits & 0x80U) == 0) return value;
    }
    return value;
  }
};

std::size_t bytes_of_type(std::uint64_t type) {
  constexpr std::array<std::size_t, 12> kSmall{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type < kSmall.size() ? kSmall[type] : static_cast<std::size_t>((type - 12) / 2);
}

std::int64_t integer(std::uint64_t type, std::string_view bytes) {
  if (type == 9) return 1;
  return static_cast<std::int64_t>(big_endian(bytes));  // ours are never negative
}

/// Reads the payload of a cell as a row of `chain`: no other table of ours has eight columns.
std::optional<LoggedEntry> row_of_chain(std::string_view payload) {
  Varints header{payload};
  const std::uint64_t length = header.next();
  const std::size_t length_bytes = payload.size() - header.left.size();
  if (header.failed || length > payload.size() || length < length_bytes) return std::nullopt;
  header.left = payload.substr(length_bytes, length - length_bytes);
  std::array<std::uint64_t, kColumns> types{};
  for (std::uint64_t& type : types) type = header.next();
  if (header.failed || !header.left.empty() || types[0] != kNull || types[kHashColumn] != kBlobOf32)
    return std::nullopt;
  LoggedEntry row;
  std::size_t at = length;
  for (std::size_t column = 0; column <= kHashColumn; ++column) {
    const std::size_t size = bytes_of_type(types[column]);
    if (at + size > payload.size()) return std::nullopt;
    const std::string_view bytes = payload.substr(at, size);
    if (column == kSessionColumn) row.session = integer(types[column], bytes);
    if (column == kSeqColumn) row.seq = static_cast<std::uint64_t>(integer(types[column], bytes));
    if (column == kHashColumn) std::memcpy(row.hash.bytes.data(), bytes.data(), bytes.size());
    at += size;
  }
  return row;
}

/// Returns the last row of a page, if the page is a leaf of `chain`.
std::optional<LoggedEntry> last_row(std::string_view page) {
  constexpr std::size_t kPointers = 8;
  const auto cells = static_cast<std::size_t>(big_endian(page.substr(3, 2)));
  if (page.front() != kTableLeaf || cells == 0 || kPointers + 2 * cells > page.size()) return std::nullopt;
  const auto at = static_cast<std::size_t>(big_endian(page.substr(kPointers + 2 * (cells - 1), 2)));
  if (at >= page.size()) return std::nullopt;
  Varints cell{page.substr(at)};
  cell.next();  // size of the payload
  const auto id = static_cast<std::int64_t>(cell.next());
  auto row = cell.failed ? std::nullopt : row_of_chain(cell.left);
  if (row) row->entry = id;
  return row;
}

const std::optional<LoggedEntry>& later(const std::optional<LoggedEntry>& a,
                                        const std::optional<LoggedEntry>& b) {
  return b && (!a || b->entry > a->entry) ? b : a;
}

/// Follows the checksums of a log frame by frame.
class Evidence {
 public:
  explicit Evidence(std::string_view header)
      : stored_(sum_at(header, kHeaderSumAt)),
        computed_(add({0, 0}, header.substr(0, kHeaderSumAt))),
        salts_(header.substr(kHeaderSaltsAt, kSumBytes)),
        header_is_sound_(stored_ == computed_),
        damaged_(!header_is_sound_) {}

  void add_frame(std::string_view frame) {
    const bool goes_on = continues(frame);
    if (!goes_on) {
      damaged_ = true;
      written_.reset();
      committed_.reset();
    } else if (damaged_) {
      found_ = later(found_, committed_);
      written_ = later(written_, last_row(frame.substr(kFrameStart)));
      committed_ = big_endian(frame.substr(4, 4)) != 0 ? std::exchange(written_, std::nullopt) : std::nullopt;
    }
    if (!header_is_sound_) salts_ = frame.substr(kSaltsAt, kSumBytes);
  }
  const std::optional<LoggedEntry>& found() const { return found_; }

 private:
  /// Whether the frame continues the one before, by the checksum that this one has stored, or should have.
  bool continues(std::string_view frame) {
    const auto sum_after = [&](Sum sum) {
      return add(add(sum, frame.substr(0, kSummed)), frame.substr(kFrameStart));
    };
    const Sum stored = sum_at(frame, kSumAt);
    const Sum computed = sum_after(stored_);
    const bool same_log = frame.substr(kSaltsAt, kSumBytes) == salts_;
    const bool sound = stored == computed || (stored_ != computed_ && stored == sum_after(computed_));
    stored_ = stored;
    computed_ = sound ? stored : computed;
    return sound && same_log && big_endian(frame.substr(0, 4)) != 0;
  }

  Sum stored_, computed_;  ///< checksums of the last frame; they differ if it is damaged
  std::string salts_;      ///< of the header, or of the last frame if the header is damaged
  const bool header_is_sound_;
  bool damaged_;
  std::optional<LoggedEntry> written_;    ///< by the transaction of the last frame
  std::optional<LoggedEntry> committed_;  ///< by the transaction that the last frame ended
  std::optional<LoggedEntry> found_;
};

}  // namespace

std::optional<LoggedEntry> entry_behind_damage(const ReadLog& log) {
  std::string bytes(kHeader, '\0');
  if (!log(bytes, 0)) return std::nullopt;
  Evidence evidence(bytes);
  const auto size = static_cast<std::size_t>(big_endian(std::string_view(bytes).substr(kPageSizeAt, 4)));
  const bool is_plausible = std::has_single_bit(size) && size >= 512 && size <= 65536;
  bytes.resize(kFrameStart + (is_plausible ? size : kUsualPage));
  for (std::int64_t at = kHeader; log(bytes, at); at += std::ssize(bytes)) evidence.add_frame(bytes);
  return evidence.found();
}

std::optional<LoggedEntry> entry_behind_damage_of(const std::string& journal) {
  const std::string path = journal + "-wal";
  sqlite3_vfs* const vfs = default_vfs();
  std::vector<std::int64_t> room(static_cast<std::size_t>(vfs->szOsFile) / sizeof(std::int64_t) + 1);
  auto* const file = reinterpret_cast<sqlite3_file*>(room.data());
  const int flags = SQLITE_OPEN_WAL | SQLITE_OPEN_READONLY;
  const int opened = vfs->xOpen(vfs, path.c_str(), file, flags, nullptr);
  std::optional<LoggedEntry> found;
  if (opened == SQLITE_OK) {
    found = entry_behind_damage([&](std::span<char> bytes, std::int64_t at) {
      return file->pMethods->xRead(file, bytes.data(), static_cast<int>(bytes.size()), at) == SQLITE_OK;
    });
  }
  if (file->pMethods != nullptr) file->pMethods->xClose(file);
  return found;
}

JournalHead head_of(Database& database, const LoggedEntry& entry) {
  JournalHead head;
  head.entry = entry.entry;
  head.hash = entry.hash;
  head.seq = entry.seq;
  Query query(database, "SELECT name FROM sessions WHERE id = ?1", entry.session);
  head.session = query.next().value_or(false) ? query.text(0) : "-";
  return head;
}

}  // namespace praxis
