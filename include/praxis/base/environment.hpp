// The source of everything non-deterministic in Praxis: time, randomness, ids. Tests and replays pass a
// deterministic one.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "praxis/base/time.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Implementations are thread-safe.
class Environment {
 public:
  virtual ~Environment() = default;
  /// Wall clock; may jump. For records and for display only, never to measure a limit.
  virtual UnixMillis now() = 0;
  /// Monotonic clock for limits and durations; its origin is arbitrary.
  virtual std::chrono::nanoseconds monotonic() = 0;
  /// 64 uniformly random bits.
  virtual std::uint64_t random() = 0;
  /// A new globally unique id: 26 characters of Crockford base 32, ordered by creation time (ULID).
  std::string new_id();
};

/// Wall clock, steady clock and the kernel's random source.
std::shared_ptr<Environment> system_environment();
/// A clock that stays at `start` and advances by 1 ms with each call of `now`; randomness from `seed`. For
/// tests and replays.
std::shared_ptr<Environment> fixed_environment(std::uint64_t seed, UnixMillis start = {1'700'000'000'000});

}  // namespace praxis
#pragma GCC visibility pop
