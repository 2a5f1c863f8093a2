// One checked step of a written plan; its placeholders are not yet replaced.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "planners/plan_template.hpp"
#include "praxis/core/planner.hpp"

namespace praxis {

struct WrittenCall {
  std::string tool;
  Json input;  ///< an object
};
/// `tool = ...`; with `for_each` one call for each element.
struct CallOne {
  WrittenCall call;
  Json for_each;  ///< null, an array, or a string that is one placeholder
};
/// `tools = [...]`
struct CallAll {
  std::vector<WrittenCall> calls;
};
struct SayText {
  std::string text;
};
struct AskText {
  std::string prompt;
};
/// `finish = ...` and `fail = ...`
struct End {
  StopReason reason = StopReason::kFinished;
  std::string text;
};

struct WrittenStep {
  std::string id;
  std::optional<Condition> when;
  bool continue_on_error = false;
  std::variant<CallOne, CallAll, SayText, AskText, Sleep, End> verb;
};

/// Errors as `ScriptedPlanner::parse`.
Result<std::vector<WrittenStep>> parse_plan(const Json& plan);

}  // namespace praxis
