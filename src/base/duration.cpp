#include "praxis/base/duration.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

namespace praxis {

Result<Millis> parse_duration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
      {{"ms", 1.0}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}, {"d", 24 * 3600e3}}};
  constexpr double kYear = 365 * 24 * 3600e3;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  const auto unit =
      std::ranges::find(kUnits, std::string_view(rest, end), &std::pair<std::string_view, double>::first);
  if (error == std::errc{} && unit != kUnits.end()) {
    const double millis = std::round(number * unit->second);
    if (millis >= 1 && millis <= kYear) return Millis{static_cast<std::int64_t>(millis)};
  }
  return fail(ErrorCode::kInput,
              '"' + std::string(text) + "\" is not a duration; write 500ms, 30s, 5m or 2h");
}

}  // namespace praxis
