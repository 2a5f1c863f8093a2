// Plan, act, reflect as three strategies: a planner decides the steps, the session carries them out, and a
// reflector looks at each result before the next step is planned.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "praxis/base/result.hpp"
#include "praxis/core/planner.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Combines a planner with a reflector. Immutable and thread-safe; copies share both.
class ReflectPlanner final : public Planner {
 public:
  /// `planner` and `reflector` must not be null.
  ReflectPlanner(std::shared_ptr<const Planner> planner, std::shared_ptr<const Reflector> reflector);
  /// Reads a plan (`AgentSpec::plan`): `{"kind": "reflect"}` with the settings of `SelfReview`. The model
  /// decides the steps. Error `kInput` names the invalid key.
  static Result<ReflectPlanner> parse(const Json& plan);

  PlanStep plan(const PlannerState& state) const override;
  std::vector<CallId> outdated(const PlannerState& state) const override;

 private:
  std::shared_ptr<const Planner> planner_;
  std::shared_ptr<const Reflector> reflector_;
};

/// Lets the model review its own work in a side query. While it finds something to improve, the note that it
/// writes becomes a message, and the model works on. An answer that does not have the requested form ends the
/// review. Immutable and thread-safe.
class SelfReview final : public Reflector {
 public:
  struct Settings {
    std::uint32_t rounds = 2;       ///< reviews in a turn at most
    bool after_each_batch = false;  ///< also after tool calls, not only after an answer
    std::string prompt;             ///< replaces the built-in instructions of the review
  };
  explicit SelfReview(Settings settings) : settings_(std::move(settings)) {}

  std::optional<PlanStep> reflect(const PlannerState& state) const override;

 private:
  Settings settings_;
};

}  // namespace praxis
#pragma GCC visibility pop
