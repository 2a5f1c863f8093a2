// Points in time as the journal stores them.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>

#pragma GCC visibility push(default)
namespace praxis {

using Millis = std::chrono::milliseconds;

/// Wall-clock milliseconds since 1970-01-01T00:00:00Z.
struct UnixMillis {
  std::int64_t value = 0;
  auto operator<=>(const UnixMillis&) const = default;
};
inline UnixMillis operator+(UnixMillis t, Millis d) { return {t.value + d.count()}; }
inline Millis operator-(UnixMillis a, UnixMillis b) { return Millis{a.value - b.value}; }

/// ISO 8601 in UTC with milliseconds: `2026-01-31T12:00:00.000Z`.
std::string to_iso8601(UnixMillis time);

}  // namespace praxis
#pragma GCC visibility pop
