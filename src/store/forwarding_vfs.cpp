#include "store/forwarding_vfs.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace praxis {

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
  static auto& made = *new std::map<Replacement, sqlite3_io_methods>;  // outlives static databases
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = made.try_emplace({real, replace}, *real);
  if (is_new) replace(found->second);
  return &found->second;
}

}  // namespace praxis
