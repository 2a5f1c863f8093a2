#include "praxis/base/duration.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace praxis {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
    {{"d", 24 * 3600e3}, {"h", 3600e3}, {"m", 60e3}, {"s", 1e3}, {"ms", 1.0}}};

/// Milliseconds of the whole text; nothing if it is no sequence of numbers with a unit, the largest first.
std::optional<double> sum_of(std::string_view text) {
  double sum = 0;
  auto next_unit = kUnits.begin();  // those before it are used or passed
  do {
    const std::size_t digits = text.find_first_not_of("0123456789.");
    if (digits == 0 || digits == std::string_view::npos) return std::nullopt;
    double number = 0;
    const char* const end = text.data() + digits;
    const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    if (error != std::errc{} || rest != end) return std::nullopt;
    text.remove_prefix(digits);
    const std::string_view name = text.substr(0, text.find_first_of("0123456789."));
    const auto unit = std::find_if(next_unit, kUnits.end(), [&](const auto& u) { return u.first == name; });
    if (unit == kUnits.end()) return std::nullopt;
    sum += number * unit->second;
    next_unit = unit + 1;
    text.remove_prefix(name.size());
  } while (!text.empty());
  return sum;
}

}  // namespace

Result<Millis> parse_duration(std::string_view text) {
  constexpr double kYear = 365 * 24 * 3600e3;
  if (const auto sum = sum_of(text)) {
    const double millis = std::round(*sum);
    if (millis >= 1 && millis <= kYear) return Millis{static_cast<std::int64_t>(millis)};
  }
  return fail(ErrorCode::kInput,
              '"' + std::string(text) + "\" is not a duration; write 500ms, 30s, 5m or 2h");
}

}  // namespace praxis
