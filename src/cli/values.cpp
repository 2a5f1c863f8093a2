#include "cli/values.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace praxis::cli {

Result<MicroUsd> parse_usd(std::string_view text) {
  constexpr double kLeast = 1e-6, kMost = 1e6;
  const char* const end = text.data() + text.size();
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error == std::errc{} && rest == end && number >= kLeast && number <= kMost) {
    return MicroUsd{std::llround(number * 1e6)};
  }
  return fail(ErrorCode::kInput,
              fmt::format("\"{}\" is not an amount in US dollars; write a number such as 0.5", text));
}

Result<std::pair<std::string, std::string>> parse_assignment(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return fail(ErrorCode::kInput, fmt::format("\"{}\" must be NAME=VALUE, such as p1=...", text));
  }
  return std::pair{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::string show_duration(Millis duration) {
  const auto millis = duration.count();
  if (millis < 1000) return fmt::format("{} ms", millis);
  if (millis < 60'000) return fmt::format("{:.1f} s", static_cast<double>(millis) / 1e3);
  return fmt::format("{} min {} s", millis / 60'000, millis / 1000 % 60);
}

std::string show_usd(MicroUsd cost) {
  return cost.value == 0 ? "$0" : fmt::format("${:.{}f}", cost.usd(), cost.usd() < 1 ? 4 : 2);
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,";
  if (!word.empty() && word.find_first_not_of(kSafe) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

}  // namespace praxis::cli
