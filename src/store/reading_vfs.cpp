#include "store/reading_vfs.hpp"

#include <sqlite3.h>

#include <map>
#include <mutex>

#include "store/forwarding_vfs.hpp"

namespace praxis {
namespace {

/// Returns the methods of the default VFS without locks and without a shared index. Makes them once for each
/// VFS.
const sqlite3_io_methods* lockless(const sqlite3_io_methods* real) {
  static std::mutex mutex;
  static auto& made =
      *new std::map<const sqlite3_io_methods*, sqlite3_io_methods>;  // outlives static databases
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = made.try_emplace(real, *real);
  if (is_new) {
    sqlite3_io_methods& methods = found->second;
    methods.iVersion = 1;  // no shared memory
    methods.xLock = [](sqlite3_file*, int) { return SQLITE_OK; };
    methods.xUnlock = [](sqlite3_file*, int) { return SQLITE_OK; };
    methods.xCheckReservedLock = [](sqlite3_file*, int* is_reserved) {
      *is_reserved = 0;
      return SQLITE_OK;
    };
  }
  return &found->second;
}

int open_for_reading(const char* name, sqlite3_file* file, int flags, int* out_flags) {
  if ((flags & SQLITE_OPEN_WAL) != 0) {
    flags &= ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    flags |= SQLITE_OPEN_READONLY;
  }
  return default_vfs()->xOpen(default_vfs(), name, file, flags, out_flags);
}

int open_shared(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  return open_for_reading(name, file, flags, out_flags);
}

int open_detached(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  const int opened = open_for_reading(name, file, flags, out_flags);
  if (opened == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0) file->pMethods = lockless(file->pMethods);
  return opened;
}

}  // namespace

const char* sharing_vfs() {
  static sqlite3_vfs& vfs = [] -> sqlite3_vfs& {
    static sqlite3_vfs made = forwarding_vfs("praxis-sharing", kRoomForFile, &open_shared);
    sqlite3_vfs_register(&made, 0);
    return made;
  }();
  return vfs.zName;
}

const char* detached_vfs() {
  static sqlite3_vfs& vfs = [] -> sqlite3_vfs& {
    static sqlite3_vfs made = forwarding_vfs("praxis-detached", kRoomForFile, &open_detached);
    sqlite3_vfs_register(&made, 0);
    return made;
  }();
  return vfs.zName;
}

}  // namespace praxis
