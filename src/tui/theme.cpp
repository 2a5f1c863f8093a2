#include "tui/theme.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace praxis::tui {
namespace {

constexpr std::size_t kRoles = 6;
/// The sequences of each theme: dim, bold, error, warning, added, removed.
using Row = std::array<std::string_view, kRoles>;
constexpr std::array<Row, 4> kTable{
    {Row{}, Row{"\x1b[2m", "\x1b[1m", "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[31m"},
     Row{"\x1b[38;5;246m", "\x1b[1m", "\x1b[38;5;203m", "\x1b[38;5;221m", "\x1b[38;5;114m", "\x1b[38;5;210m"},
     Row{"\x1b[38;5;240m", "\x1b[1m", "\x1b[38;5;124m", "\x1b[38;5;94m", "\x1b[38;5;28m", "\x1b[38;5;124m"}}};

/// A channel of one to four hexadecimal digits, from 0 to 1.
std::optional<double> channel(std::string_view digits) {
  unsigned value = 0;
  if (digits.empty() || digits.size() > 4) return std::nullopt;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (failed != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value / static_cast<double>((1U << (4 * digits.size())) - 1);
}

/// The theme for the last number of `COLORFGBG`, such as `15;0`: the background among the 16 colours.
std::optional<Theme> theme_for_number(std::string_view pair) {
  const auto last = pair.rfind(';');
  if (last == std::string_view::npos) return std::nullopt;
  const std::string_view digits = pair.substr(last + 1);
  unsigned number = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failed != std::errc() || end != digits.data() + digits.size() || number > 15) return std::nullopt;
  return number == 7 || number > 8 ? Theme::kLight : Theme::kDark;
}

}  // namespace

std::string Styles::in(Role role, std::string_view text) const {
  const std::string_view sequence =
      kTable.at(static_cast<std::size_t>(theme)).at(static_cast<std::size_t>(role));
  return sequence.empty() ? std::string(text) : fmt::format("{}{}\x1b[0m", sequence, text);
}

std::optional<Theme> theme_for_background(std::string_view color) {
  const auto colon = color.find(':');
  if (colon == std::string_view::npos || !color.starts_with("rgb")) return std::nullopt;
  std::string_view rest = color.substr(colon + 1);
  double light = 0;
  for (const double weight : {0.299, 0.587, 0.114}) {
    const auto slash = std::min(rest.find('/'), rest.size());
    const auto part = channel(rest.substr(0, slash));
    if (!part) return std::nullopt;
    light += weight * *part;
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  return light > 0.5 ? Theme::kLight : Theme::kDark;
}

ThemeChoice choose_theme(std::string_view setting,
                         const std::function<std::string(const char* name)>& variable) {
  if (setting == "light") return {Theme::kLight, false};
  if (setting == "dark") return {Theme::kDark, false};
  if (setting == "ansi") return {Theme::kAnsi, false};
  const std::string kind = variable("TERM");
  const bool has_256 = kind.find("256color") != std::string::npos ||
                       kind.find("direct") != std::string::npos || !variable("COLORTERM").empty();
  if (!has_256) return {Theme::kAnsi, false};
  return {theme_for_number(variable("COLORFGBG")).value_or(Theme::kAnsi), true};
}

}  // namespace praxis::tui
