#include "store/forwarding_vfs.hpp"

#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

namespace praxis {
namespace {

/// What `with_replaced` returns, so that a replacement finds the method that it replaces.
struct ReplacedMethods : sqlite3_io_methods {
  const sqlite3_io_methods* real;
};

int lock_index(sqlite3_file* file, int first, int count, int flags) {
  const int before = std::exchange(errno, 0);
  const int locked = real_methods(file).xShmLock(file, first, count, flags);
  // 0: taken by another connection of this process; EAGAIN, EACCES: by another process.
  const bool is_taken = errno == 0 || errno == EAGAIN || errno == EACCES || errno == EINTR;
  if (errno == 0) errno = before;  // SQLite asks later why a write failed, and unlocks first
  return locked == SQLITE_BUSY && !is_taken ? SQLITE_IOERR_SHMLOCK : locked;
}

}  // namespace

sqlite3_vfs* default_vfs() { return sqlite3_vfs_find(nullptr); }

sqlite3_vfs forwarding_vfs(const char* name, int file_size,
                           int (*open)(sqlite3_vfs*, const char*, sqlite3_file*, int, int*)) {
  sqlite3_vfs vfs{};
  vfs.iVersion = 2;
  vfs.szOsFile = file_size;
  vfs.mxPathname = default_vfs()->mxPathname;
  vfs.zName = name;
  vfs.xOpen = open;
  vfs.xDelete = [](sqlite3_vfs*, const char* file, int sync) {
    return default_vfs()->xDelete(default_vfs(), file, sync);
  };
  vfs.xAccess = [](sqlite3_vfs*, const char* file, int what, int* result) {
    return default_vfs()->xAccess(default_vfs(), file, what, result);
  };
  vfs.xFullPathname = [](sqlite3_vfs*, const char* file, int size, char* full) {
    return default_vfs()->xFullPathname(default_vfs(), file, size, full);
  };
  vfs.xRandomness = [](sqlite3_vfs*, int size, char* bytes) {
    return default_vfs()->xRandomness(default_vfs(), size, bytes);
  };
  vfs.xSleep = [](sqlite3_vfs*, int microseconds) {
    return default_vfs()->xSleep(default_vfs(), microseconds);
  };
  vfs.xGetLastError = [](sqlite3_vfs*, int size, char* text) {
    return default_vfs()->xGetLastError(default_vfs(), size, text);
  };
  vfs.xCurrentTimeInt64 = [](sqlite3_vfs*, sqlite3_int64* time) {
    return default_vfs()->xCurrentTimeInt64(default_vfs(), time);
  };
  return vfs;
}

const sqlite3_io_methods* with_replaced(const sqlite3_io_methods* real,
                                        void (*replace)(sqlite3_io_methods&)) {
  using Replacement = std::pair<const sqlite3_io_methods*, void (*)(sqlite3_io_methods&)>;
  static std::mutex mutex;
  static auto& made = *new std::map<Replacement, ReplacedMethods>;  // outlives static databases
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = made.try_emplace({real, replace}, ReplacedMethods{*real, real});
  if (is_new) replace(found->second);
  return &found->second;
}

const sqlite3_io_methods& real_methods(const sqlite3_file* file) {
  return *static_cast<const ReplacedMethods*>(file->pMethods)->real;
}

void report_lock_errors(sqlite3_io_methods& methods) { methods.xShmLock = &lock_index; }

}  // namespace praxis
