#include "store/sqlite_memory.hpp"

#include <sqlite3.h>

namespace praxis {
namespace {

thread_local constinit SqliteMemoryLimit* limit_of_thread = nullptr;

/// SQLite's own allocator.
sqlite3_mem_methods& own_allocator() {
  static sqlite3_mem_methods methods{};
  return methods;
}

}  // namespace

/// SQLite's allocator with a bound.
struct LimitedAllocator {
  /// False if the bound of this thread does not allow `bytes` more.
  static bool take(std::int64_t bytes) {
    SqliteMemoryLimit* const limit = limit_of_thread;
    if (limit == nullptr) return true;
    if (bytes > limit->left_) {
      limit->was_reached_ = true;
      return false;
    }
    limit->left_ -= bytes;
    return true;
  }

  static void* allocate(int size) {
    if (!take(size)) return nullptr;
    void* const memory = own_allocator().xMalloc(size);
    if (memory == nullptr) take(-static_cast<std::int64_t>(size));
    return memory;
  }

  static void release(void* memory) {
    if (limit_of_thread != nullptr && memory != nullptr)
      take(-static_cast<std::int64_t>(own_allocator().xSize(memory)));
    own_allocator().xFree(memory);
  }

  static void* resize(void* memory, int size) {
    const std::int64_t more = std::int64_t{size} - own_allocator().xSize(memory);
    if (!take(more)) return nullptr;
    void* const moved = own_allocator().xRealloc(memory, size);
    if (moved == nullptr) take(-more);
    return moved;
  }
};

bool watch_sqlite_memory() {
  static const bool is_watched = [] {
    sqlite3_mem_methods& own = own_allocator();
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &own) != SQLITE_OK) return false;
    sqlite3_mem_methods limited = own;
    limited.xMalloc = &LimitedAllocator::allocate;
    limited.xFree = &LimitedAllocator::release;
    limited.xRealloc = &LimitedAllocator::resize;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &limited) == SQLITE_OK;
  }();
  return is_watched;
}

SqliteMemoryLimit::SqliteMemoryLimit(std::size_t bytes) : left_(static_cast<std::int64_t>(bytes)) {
  limit_of_thread = this;
}

SqliteMemoryLimit::~SqliteMemoryLimit() { limit_of_thread = nullptr; }

}  // namespace praxis
