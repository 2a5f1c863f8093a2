// What a journal does, in figures: for operators who watch a server.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>

#include "praxis/base/ids.hpp"

namespace praxis {

/// The figures of a process since it opened the journal.
struct JournalFigures {
  /// The upper bounds of the classes of appends, by the time until they are durable.
  static constexpr std::array<std::chrono::microseconds, 11> kBounds{
      std::chrono::microseconds(1'000),     std::chrono::microseconds(2'500),
      std::chrono::microseconds(5'000),     std::chrono::microseconds(10'000),
      std::chrono::microseconds(25'000),    std::chrono::microseconds(50'000),
      std::chrono::microseconds(100'000),   std::chrono::microseconds(250'000),
      std::chrono::microseconds(1'000'000), std::chrono::microseconds(5'000'000),
      std::chrono::microseconds(20'000'000)};

  std::uint64_t leases = 0;     ///< sessions that the process owns now
  std::uint64_t takeovers = 0;  ///< sessions taken from an owner that had not released them
  std::uint64_t waiting = 0;    ///< appends that are not durable yet
  std::uint64_t failed = 0;     ///< appends that failed
  /// Appends that became durable, by class; the last class has no bound.
  std::array<std::uint64_t, kBounds.size() + 1> durable{};
  std::chrono::nanoseconds time{0};  ///< of all of these
};

/// Thread-safe.
class JournalMeter {
 public:
  void note_lease(const SessionId& session, bool is_takeover) {
    const std::lock_guard lock(mutex_);
    leases_.insert(session);
    if (is_takeover) ++figures_.takeovers;
  }
  void note_release(const SessionId& session) {
    const std::lock_guard lock(mutex_);
    leases_.erase(session);
  }
  void begin_append() {
    const std::lock_guard lock(mutex_);
    ++figures_.waiting;
  }
  void end_append(std::chrono::nanoseconds time, bool is_durable) {
    const std::lock_guard lock(mutex_);
    --figures_.waiting;
    if (!is_durable) {
      ++figures_.failed;
      return;
    }
    const auto bound = std::ranges::lower_bound(JournalFigures::kBounds, time);
    ++figures_.durable.at(static_cast<std::size_t>(bound - JournalFigures::kBounds.begin()));
    figures_.time += time;
  }
  JournalFigures figures() const {
    const std::lock_guard lock(mutex_);
    JournalFigures figures = figures_;
    figures.leases = leases_.size();
    return figures;
  }

 private:
  mutable std::mutex mutex_;
  JournalFigures figures_;
  std::set<SessionId> leases_;
};

/// A journal that has figures. Thread-safe.
class MeasuredJournal {
 public:
  virtual ~MeasuredJournal() = default;
  virtual JournalFigures figures() const = 0;
};

}  // namespace praxis
