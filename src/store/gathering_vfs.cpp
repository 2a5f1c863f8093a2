#include "store/gathering_vfs.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "store/forwarding_vfs.hpp"

namespace praxis {
namespace {

constexpr int kFrameHeader = 24;          // bytes before each page in the log
constexpr std::size_t kMost = 64 * 1024;  // gathered bytes; SQLite's unix VFS writes less than 128 KB at once

/// The gathered frames of one open log.
struct Log {
  const sqlite3_io_methods* real = nullptr;
  std::string frames;         ///< not written yet
  sqlite3_int64 at = 0;       ///< their offset in the log
  sqlite3_int64 written = 0;  ///< end of the frames so far; SQLite rewrites headers before it in place
  bool commits = false;       ///< the next page ends a transaction
};

/// A file of the default VFS, followed by the state of a log. SQLite aligns files to eight bytes, not to
/// more.
struct File {
  alignas(sqlite3_int64) std::array<char, kRoomForFile> real;
  Log* log;
};

Log& log_of(sqlite3_file* file) { return *reinterpret_cast<File*>(file)->log; }

/// Writes the gathered frames. Drops them after a failure: SQLite gets the error and rolls the transaction
/// back.
int flush(sqlite3_file* file) {
  Log& log = log_of(file);
  if (log.frames.empty()) return SQLITE_OK;
  const int written = log.real->xWrite(file, log.frames.data(), static_cast<int>(log.frames.size()), log.at);
  log.frames.clear();
  return written;
}

/// Returns whether the frame ends a transaction: only then its header holds the size of the database.
bool ends_transaction(std::string_view header) {
  return header.substr(4, 4) != std::string_view("\0\0\0\0", 4);
}

int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  Log& log = log_of(file);
  const std::string_view bytes(static_cast<const char*>(data), static_cast<std::size_t>(size));
  const bool is_header = size == kFrameHeader;
  const bool goes_on = !log.frames.empty() &&
                       offset == log.at + static_cast<sqlite3_int64>(log.frames.size()) &&
                       log.frames.size() + bytes.size() <= kMost;
  if (!goes_on) {
    if (const int flushed = flush(file); flushed != SQLITE_OK) return flushed;
    log.at = offset;
  }
  if (offset == 0) log.written = 0;  // the log starts again
  const bool is_new = offset >= log.written;
  if (!is_header) log.written = std::max(log.written, offset + size);
  if (!goes_on && !(is_header && is_new)) return log.real->xWrite(file, data, size, offset);
  log.frames.append(bytes);
  if (is_header) {
    log.commits = ends_transaction(bytes);
    return SQLITE_OK;
  }
  return log.commits ? flush(file) : SQLITE_OK;
}

template <auto Method, class... Arguments>
int flush_first(sqlite3_file* file, Arguments... arguments) {
  const int flushed = flush(file);
  return flushed == SQLITE_OK ? (log_of(file).real->*Method)(file, arguments...) : flushed;
}

int close(sqlite3_file* file) {
  const std::unique_ptr<Log> log(&log_of(file));
  const int flushed = flush(file);
  const int closed = log->real->xClose(file);
  return flushed == SQLITE_OK ? closed : flushed;
}

/// Replaces what a log needs otherwise.
void gather_writes(sqlite3_io_methods& methods) {
  methods.xClose = &close;
  methods.xWrite = &write;
  methods.xRead = &flush_first<&sqlite3_io_methods::xRead, void*, int, sqlite3_int64>;
  methods.xSync = &flush_first<&sqlite3_io_methods::xSync, int>;
  methods.xTruncate = &flush_first<&sqlite3_io_methods::xTruncate, sqlite3_int64>;
  methods.xFileSize = &flush_first<&sqlite3_io_methods::xFileSize, sqlite3_int64*>;
}

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  sqlite3_vfs* const real = default_vfs();
  if (static_cast<std::size_t>(real->szOsFile) > kRoomForFile) return SQLITE_CANTOPEN;
  const int opened = real->xOpen(real, name, file, flags, out_flags);
  if (opened != SQLITE_OK) return opened;
  if ((flags & SQLITE_OPEN_MAIN_DB) != 0) file->pMethods = with_replaced(file->pMethods, &report_lock_errors);
  if ((flags & SQLITE_OPEN_WAL) == 0) return opened;
  auto log = std::make_unique<Log>();
  log->real = file->pMethods;
  file->pMethods = with_replaced(log->real, &gather_writes);
  reinterpret_cast<File*>(file)->log = log.release();
  return SQLITE_OK;
}

}  // namespace

const char* gathering_vfs() {
  static sqlite3_vfs& vfs = [] -> sqlite3_vfs& {
    static sqlite3_vfs made = forwarding_vfs("praxis", sizeof(File), &open);
    sqlite3_vfs_register(&made, 0);
    return made;
  }();
  return vfs.zName;
}

}  // namespace praxis
