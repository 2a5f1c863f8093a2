// Gives the free space of a SQLite journal back to the file system.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "journal/chain.hpp"
#include "journal/journal_file.hpp"
#include "store/sqlite.hpp"

namespace praxis {
namespace {

constexpr std::int64_t kLeastShare = 8;  ///< rewrites the file if one page of this many is free

/// A connection of SQLite's own, because it must exclude all others before it reads anything.
class Exclusive {
 public:
  explicit Exclusive(const std::string& path) {
    code_ = sqlite3_open_v2(path.c_str(), &connection_, SQLITE_OPEN_READWRITE, nullptr);
    // With this mode set before the first access, SQLite locks the whole file when it opens the log.
    for (const char* sql : {"PRAGMA locking_mode = EXCLUSIVE", "PRAGMA synchronous = FULL"}) run(sql);
  }
  ~Exclusive() { sqlite3_close(connection_); }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

  /// Runs a statement if those before succeeded.
  void run(const char* sql) {
    if (code_ == SQLITE_OK) code_ = sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr);
  }
  std::int64_t number(const char* sql) {
    std::int64_t found = 0;
    const auto keep = [](void* to, int, char** values, char**) {
      *static_cast<std::int64_t*>(to) = values[0] == nullptr ? 0 : std::stoll(values[0]);
      return 0;
    };
    if (code_ == SQLITE_OK) code_ = sqlite3_exec(connection_, sql, keep, &found, nullptr);
    return found;
  }
  int code() const { return code_ & 0xFF; }
  std::string message() const { return sqlite3_errmsg(connection_); }

 private:
  sqlite3* connection_ = nullptr;
  int code_ = SQLITE_OK;
};

std::uint64_t size_of(const std::string& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  return failed ? 0 : size;
}

}  // namespace

Result<std::uint64_t> shrink_journal(const std::string& path) {
  if (auto ours = check_journal_file(path); !ours) return fail(std::move(ours.error()));
  // Another process has the log, or a crash left it: then an opening for writing has to check it first.
  if (access((path + "-wal").c_str(), F_OK) == 0) return 0;
  const std::uint64_t before = size_of(path);
  {
    Exclusive file(path);
    const std::int64_t pages = file.number("PRAGMA page_count"), free = file.number("PRAGMA freelist_count");
    if (file.code() == SQLITE_OK && free * kLeastShare >= pages && free > 0) file.run("VACUUM");
    if (file.code() == SQLITE_BUSY || file.code() == SQLITE_LOCKED) return 0;
    if (file.code() != SQLITE_OK) {
      const auto kind = file.code() == SQLITE_FULL      ? ErrorKind::kFull
                        : file.code() == SQLITE_CORRUPT ? ErrorKind::kCorrupt
                                                        : ErrorKind::kIo;
      return fail(journal_error(kind, "cannot shrink journal " + path + ": " + file.message()));
    }
  }
  const std::uint64_t after = size_of(path);
  return before > after ? before - after : 0;
}

}  // namespace praxis
