// Times of day by a line of cron, in a time zone.
#pragma once

#include <bitset>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time_zone.hpp"
#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"

namespace praxis::app {

/// The minutes that a line of cron selects. Immutable.
///
/// Daylight saving follows RFC 5545, section 3.3.5: a time that a day does not have is moved by the length of
/// the gap (02:30 becomes 03:30), and of a time that a day has twice the first counts. A line for every hour
/// follows elapsed time instead: nothing is moved, and both hours count.
class CronTimes {
 public:
  /// Reads `MINUTE HOUR DAY MONTH WEEKDAY` with `*`, lists, ranges, steps and English names of months and
  /// weekdays (0 and 7 are Sunday), or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. As in POSIX, a
  /// day counts if day or weekday fits when both are restricted. Error `kInput`, naming the field.
  static Result<CronTimes> parse(std::string_view text);

  /// The first time after `after`; `std::nullopt` if the next nine years have none (30 February).
  std::optional<UnixMillis> next(UnixMillis after, const TimeZone& zone) const;
  /// The times after `after` up to and with `until`, in order; if they are more than `most`, the last ones.
  std::vector<UnixMillis> between(UnixMillis after, UnixMillis until, const TimeZone& zone,
                                  std::size_t most) const;

 private:
  bool has_day(std::chrono::sys_days day) const;
  /// The times of a day in order.
  std::vector<UnixMillis> times_on(std::chrono::sys_days day, const TimeZone& zone) const;

  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<8> weekdays_;
  bool any_day_ = false, any_weekday_ = false;  ///< written as `*`
};

}  // namespace praxis::app
