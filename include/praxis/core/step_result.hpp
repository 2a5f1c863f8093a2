// What a planner has to work with: the result of each step that was carried out, and the end of the model's
// last answer.
#pragma once

#include <string>

#include "praxis/base/ids.hpp"
#include "praxis/domain/model_types.hpp"
#include "praxis/json/json.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// How the model's last answer ended, if there is more to do than to run its calls; not yet acted on.
struct Answer {
  FinishReason finish = FinishReason::kStop;
  bool malformed_call = false;  ///< at least one tool call could not be read
};

/// A result that a plan can refer to. Each executed step leaves exactly one (a batch one per call, in call
/// order), so a plan finds its position by walking its steps along the results. Calls of the model leave one
/// as well.
struct StepResult {
  CallId call;  ///< empty for steps that are not tool calls
  /// Tool name, or `message`, `sleep`, `ask`, `answer`, or the purpose of a side query.
  std::string tool;
  bool ok = true;
  std::string text;
  Json value;
};

}  // namespace praxis
#pragma GCC visibility pop
