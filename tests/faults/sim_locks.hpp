// The locks on a file of the simulated disk, in SQLite's terms: on the file, and on the memory that its users
// share.
#pragma once

#include <sqlite3.h>

#include <array>
#include <cstddef>
#include <set>

namespace praxis::faults {

class SimLocks {
 public:
  using Holder = const void*;

  /// Raises the holder's `level`; `SQLITE_BUSY` if other holders prevent it.
  int lock(Holder holder, int& level, int wanted) {
    if (level >= wanted) return SQLITE_OK;
    if (exclusive_ != nullptr && exclusive_ != holder) return SQLITE_BUSY;
    if (wanted == SQLITE_LOCK_SHARED) {
      shared_.insert(holder);
    } else if (reserved_ != nullptr && reserved_ != holder) {
      return SQLITE_BUSY;
    } else if (wanted == SQLITE_LOCK_RESERVED) {
      reserved_ = holder;
    } else {
      exclusive_ = holder;
      level = SQLITE_LOCK_PENDING;
      if (shared_.size() > 1) return SQLITE_BUSY;
    }
    level = wanted;
    return SQLITE_OK;
  }
  void unlock(Holder holder, int& level, int wanted) {
    if (level <= wanted) return;
    if (exclusive_ == holder) exclusive_ = nullptr;
    if (reserved_ == holder) reserved_ = nullptr;
    if (wanted == SQLITE_LOCK_NONE) shared_.erase(holder);
    level = wanted;
  }
  bool is_reserved() const { return reserved_ != nullptr || exclusive_ != nullptr; }

  /// Takes or releases `count` slots from `first` on, as the flags of SQLite's `xShmLock` say.
  int lock_memory(Holder holder, int first, int count, int flags) {
    const bool takes = (flags & SQLITE_SHM_LOCK) != 0, alone = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    const auto from = static_cast<std::size_t>(first), to = from + static_cast<std::size_t>(count);
    for (auto slot = from; slot < to && takes; ++slot) {
      if (slots_[slot].is_taken(holder, alone)) return SQLITE_BUSY;
    }
    for (auto slot = from; slot < to; ++slot) {
      Slot& one = slots_[slot];
      if (takes && alone) {
        one.exclusive = holder;
      } else if (takes) {
        one.shared.insert(holder);
      } else {
        one.shared.erase(holder);
        if (one.exclusive == holder) one.exclusive = nullptr;
      }
    }
    return SQLITE_OK;
  }

 private:
  struct Slot {
    std::set<Holder> shared{};
    Holder exclusive = nullptr;

    bool is_taken(Holder holder, bool alone) const {
      if (exclusive != nullptr && exclusive != holder) return true;
      return alone && shared.size() > shared.count(holder);
    }
  };

  std::set<Holder> shared_;
  Holder reserved_ = nullptr;
  Holder exclusive_ = nullptr;  // or waiting for it
  std::array<Slot, SQLITE_SHM_NLOCK> slots_{};
};

}  // namespace praxis::faults
