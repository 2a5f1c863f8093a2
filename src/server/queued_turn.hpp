// The first turn of a run that begins once fewer turns are at work. The run is in the journal before, paused,
// so that a crash loses it no more than others.
#pragma once

#include <mutex>
#include <utility>

#include "praxis/base/executor.hpp"
#include "server/load.hpp"

namespace praxis::server {

/// Brings together the slot of a turn and the run that waits for it. The turn holds this until it ends, and
/// with it the slot. Thread-safe.
class QueuedTurn {
 public:
  /// Gives the slot, once.
  void give(Load::Slot slot) {
    Task begin;
    {
      const std::lock_guard lock(mutex_);
      slot_ = std::move(slot);
      begin = std::exchange(begin_, nullptr);
    }
    if (begin) begin();
  }
  /// Runs `begin` when there is a slot: at once, or in `give`.
  void when_given(Task begin) {
    {
      const std::lock_guard lock(mutex_);
      if (!slot_) begin_ = std::exchange(begin, nullptr);
    }
    if (begin) begin();
  }

 private:
  std::mutex mutex_;  // guards the next members
  Load::Slot slot_;
  Task begin_;
};

}  // namespace praxis::server
