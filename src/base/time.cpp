#include "praxis/base/time.hpp"

#include <algorithm>
#include <cstdio>

namespace praxis {

std::string to_iso8601(UnixMillis time) {
  // The years 0000 to 9999, which four digits can express.
  constexpr std::int64_t kFirst = -62'167'219'200'000, kLast = 253'402'300'799'999;
  const std::chrono::sys_time<Millis> point{Millis{std::clamp(time.value, kFirst, kLast)}};
  const auto day = std::chrono::floor<std::chrono::days>(point);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss<Millis> clock{point - day};
  char text[64];
  const int length = std::snprintf(
      text, sizeof text, "%04d-%02u-%02uT%02ld:%02ld:%02ld.%03ldZ", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
      clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
  return {text, static_cast<std::size_t>(length)};
}

}  // namespace praxis
