// The disk as SQLite sees it, with counters and fault injection: is the default VFS while it exists.
#pragma once

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <string>

namespace praxis::testing {

class FaultyDisk {
 public:
  FaultyDisk() {
    real_ = sqlite3_vfs_find(nullptr);
    shim_ = *real_;
    shim_.zName = "faulty";
    shim_.xOpen = &open;
    syncs = 0;
    lowest_write = kNoWrite;
    full = failing_sync = false;
    sqlite3_vfs_register(&shim_, 1);
  }
  ~FaultyDisk() {
    full = failing_sync = false;
    sqlite3_vfs_register(real_, 1);
    sqlite3_vfs_unregister(&shim_);
  }
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  static constexpr sqlite3_int64 kNoWrite = std::numeric_limits<sqlite3_int64>::max();

  static inline std::atomic<int> syncs = 0;
  static inline std::atomic<sqlite3_int64> lowest_write = kNoWrite;  ///< in any file
  static inline std::atomic<bool> full = false;                      ///< writes fail because the disk is full
  static inline std::atomic<bool> failing_sync = false;              ///< syncs fail

 private:
  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    const int code = real_->xOpen(real_, name, file, flags, out_flags);
    if (file->pMethods == nullptr) return code;
    const std::lock_guard lock(mutex_);
    const auto [found, fresh] = methods_.try_emplace(file->pMethods, *file->pMethods);
    if (fresh) {
      sync_ = found->second.xSync;
      write_ = found->second.xWrite;
      found->second.xSync = &sync;
      found->second.xWrite = &write;
    }
    file->pMethods = &found->second;
    return code;
  }
  static int sync(sqlite3_file* file, int flags) {
    ++syncs;
    return failing_sync ? SQLITE_IOERR_FSYNC : sync_(file, flags);
  }
  static int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
    lowest_write = std::min<sqlite3_int64>(lowest_write, offset);
    return full ? SQLITE_FULL : write_(file, bytes, size, offset);
  }

  static inline sqlite3_vfs* real_ = nullptr;
  static inline sqlite3_vfs shim_{};
  static inline std::mutex mutex_;
  static inline std::map<const sqlite3_io_methods*, sqlite3_io_methods> methods_;
  static inline int (*sync_)(sqlite3_file*, int) = nullptr;
  static inline int (*write_)(sqlite3_file*, const void*, int, sqlite3_int64) = nullptr;
};

}  // namespace praxis::testing
