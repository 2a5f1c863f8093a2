#include "store/scratch_vfs.hpp"

#include <sqlite3.h>

#include "store/forwarding_vfs.hpp"

namespace praxis {
namespace {

constexpr int kTemporary =
    SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_TRANSIENT_DB | SQLITE_OPEN_SUBJOURNAL;

thread_local constinit ScratchLimit* scratch_of_thread = nullptr;

int write_within_limit(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
  ScratchLimit* const limit = scratch_of_thread;
  if (limit != nullptr && !limit->take(static_cast<std::size_t>(size))) return SQLITE_FULL;
  return real_methods(file).xWrite(file, bytes, size, at);
}

void limit_writes(sqlite3_io_methods& methods) {
  methods.xWrite = &write_within_limit;
  methods.iVersion = 1;  // no memory mapping, which would write past `xWrite`
}

int open_limited(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  const int opened = default_vfs()->xOpen(default_vfs(), name, file, flags, out_flags);
  if (opened == SQLITE_OK && (flags & kTemporary) != 0)
    file->pMethods = with_replaced(file->pMethods, &limit_writes);
  return opened;
}

}  // namespace

const char* scratch_vfs() {
  static sqlite3_vfs& vfs = [] -> sqlite3_vfs& {
    static sqlite3_vfs made = forwarding_vfs("praxis-scratch", kRoomForFile, &open_limited);
    sqlite3_vfs_register(&made, 0);
    return made;
  }();
  return vfs.zName;
}

ScratchLimit::ScratchLimit(std::size_t bytes) : left_(bytes) { scratch_of_thread = this; }

ScratchLimit::~ScratchLimit() { scratch_of_thread = nullptr; }

bool ScratchLimit::take(std::size_t bytes) {
  if (bytes > left_) {
    was_reached_ = true;
    return false;
  }
  left_ -= bytes;
  return true;
}

}  // namespace praxis
