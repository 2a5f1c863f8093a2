#include "praxis/planners/model_planner.hpp"

namespace praxis {

PlanStep ModelPlanner::plan(const PlannerState& state) const {
  const auto& answer = state.answer();
  if (answer && answer->finish != FinishReason::kPause) return Conclude{};
  return AskModel{};
}

}  // namespace praxis
