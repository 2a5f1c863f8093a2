#include "store/reading_vfs.hpp"

#include <sqlite3.h>

#include "store/forwarding_vfs.hpp"

namespace praxis {
namespace {

/// Removes locks and the shared index.
void remove_locks(sqlite3_io_methods& methods) {
  methods.iVersion = 1;  // no shared memory
  methods.xLock = [](sqlite3_file*, int) { return SQLITE_OK; };
  methods.xUnlock = [](sqlite3_file*, int) { return SQLITE_OK; };
  methods.xCheckReservedLock = [](sqlite3_file*, int* is_reserved) {
    *is_reserved = 0;
    return SQLITE_OK;
  };
}

int open_for_reading(const char* name, sqlite3_file* file, int flags, int* out_flags) {
  if ((flags & SQLITE_OPEN_WAL) != 0) {
    flags &= ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    flags |= SQLITE_OPEN_READONLY;
  }
  return default_vfs()->xOpen(default_vfs(), name, file, flags, out_flags);
}

int open_shared(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  const int opened = open_for_reading(name, file, flags, out_flags);
  if (opened == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0)
    file->pMethods = with_replaced(file->pMethods, &report_lock_errors);
  return opened;
}

int open_detached(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  const int opened = open_for_reading(name, file, flags, out_flags);
  if (opened == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0)
    file->pMethods = with_replaced(file->pMethods, &remove_locks);
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
