#include "app/values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "app/plain_text.hpp"

namespace praxis::app {
namespace {

std::string fixed(double number, int digits) {
  std::array<char, 400> buffer;  // the longest double has 309 digits before the point
  const auto end = std::to_chars(buffer.begin(), buffer.end(), number, std::chars_format::fixed, digits).ptr;
  return {buffer.begin(), end};
}

}  // namespace

Result<MicroUsd> parse_usd(std::string_view text) {
  constexpr double kLeast = 1e-6, kMost = 1e6;
  const char* const end = text.data() + text.size();
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error == std::errc{} && rest == end && number >= kLeast && number <= kMost) {
    return MicroUsd{std::llround(number * 1e6)};
  }
  return fail(ErrorCode::kInput,
              in_quotes(text) + " is not an amount in US dollars; write a number such as 0.5");
}

Result<RouteOrder> parse_route_order(std::string_view text) {
  Route route;
  if (read_route(JsonObject{{"order", text}}, route)) return route.order;
  return fail(ErrorCode::kInput, in_quotes(text) + " is not an order; write priority, cost or latency");
}

Result<std::pair<std::string, std::string>> parse_assignment(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return fail(ErrorCode::kInput, in_quotes(text) + " must be NAME=VALUE, such as p1=...");
  }
  return std::pair{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::string show_duration(Millis duration) {
  const auto millis = duration.count();
  if (millis < 1000) return std::to_string(millis) + " ms";
  if (millis < 60'000) return fixed(static_cast<double>(millis) / 1e3, 1) + " s";
  return std::to_string(millis / 60'000) + " min " + std::to_string(millis / 1000 % 60) + " s";
}

std::string show_usd(MicroUsd cost) {
  return cost.value == 0 ? "$0" : '$' + fixed(cost.usd(), cost.usd() < 1 ? 4 : 2);
}

std::string show_age(Millis age) {
  const auto seconds = std::max<std::int64_t>(age.count() / 1000, 0);
  if (seconds < 60) return std::to_string(seconds) + " s";
  if (seconds < 60 * 60) return std::to_string(seconds / 60) + " min";
  if (seconds < 48 * 60 * 60) return std::to_string(seconds / (60 * 60)) + " h";
  return std::to_string(seconds / (24 * 60 * 60)) + " d";
}

std::string show_cost(const Usage& usage) {
  if (usage.cost.value == 0) return usage.total() == 0 ? "$0" : "$?";
  return (usage.estimated ? "~" : "") + show_usd(usage.cost);
}

std::string show_usage(const Usage& usage) {
  return (usage.estimated ? "~" : "") + std::to_string(usage.total()) + " tokens, " + show_cost(usage);
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,";
  if (!word.empty() && word.find_first_not_of(kSafe) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

}  // namespace praxis::app
