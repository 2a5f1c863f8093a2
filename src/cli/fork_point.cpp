#include "cli/fork_point.hpp"

#include <fmt/format.h>

#include <charconv>

#include "app/hints.hpp"

namespace praxis::cli {

Result<ForkPoint> fork_point(const std::string& text) {
  const auto at = text.find('@');
  if (at == std::string::npos) return ForkPoint{text};
  ForkPoint point{text.substr(0, at)};
  std::string step = text.substr(at + 1);
  if (step.starts_with('t')) {
    const auto dot = step.find('.');
    point.turn = step.substr(0, dot);
    if (dot == std::string::npos) return point;
    step.erase(0, dot + 1);
  }
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), point.step);
  const bool is_number = error == std::errc{} && end == step.data() + step.size() && point.step > 0;
  if (is_number) return point;
  return fail(
      app::usage_error(fmt::format("\"{}\" is not a step number", step),
                       "ID@3 is the third step of the last turn, ID@t2 the end of turn t2, ID@t2.3 its "
                       "third step"));
}

Result<std::uint64_t> seq_of_point(const std::vector<StoredRecord>& records, const ForkPoint& point) {
  if (!point.turn.empty()) return seq_of_turn(records, TurnId(point.turn), point.step);
  return seq_of_step(records, point.step);
}

}  // namespace praxis::cli
