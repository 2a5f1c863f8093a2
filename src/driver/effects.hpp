// The effects of one session that are under way: which attempt runs, since when, and how much of its time
// limit is left. A value: it starts and stops nothing.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "driver/input.hpp"

namespace praxis::driver {

struct RunningEffect {
  EffectKind kind = EffectKind::kModel;
  std::uint32_t attempt = 1;
  std::chrono::nanoseconds started{0};
  Token timer = 0;  ///< of the limit of a tool, the delay of a model call, or the timer itself; 0: unarmed
  Millis limit{0};  ///< of a tool; 0: no limit
  bool repeatable = false;                             ///< may be tried again after its limit
  bool asked = false;                                  ///< of a model: its request has gone out
  std::shared_ptr<const EffectIntended> delayed = {};  ///< of a model that backs off first
  std::optional<Usage> stated = {};    ///< of a model: what the vendor said that a failed call used
  bool stopping = false;               ///< was asked to stop
  std::chrono::nanoseconds waited{0};  ///< for people, by those that work for it
  std::optional<std::chrono::nanoseconds> waits_since = {};
};

/// An attempt at an effect.
using Attempt = std::pair<EffectId, std::uint32_t>;

class Effects {
 public:
  RunningEffect& begin(const EffectIntended& intent, std::chrono::nanoseconds now);
  /// Null when that attempt is not under way (any more).
  RunningEffect* find(const EffectId& effect, std::uint32_t attempt);
  const RunningEffect* find(const EffectId& effect, std::uint32_t attempt) const;
  bool contains(const EffectId& effect) const { return running_.contains(effect); }
  bool is_empty() const { return running_.empty(); }
  std::map<EffectId, RunningEffect>& all() { return running_; }
  const std::map<EffectId, RunningEffect>& all() const { return running_; }
  /// A model call is under way.
  bool asks_model() const;

  /// Takes an effect out; how long it ran, without the time that it waited for people.
  Millis finish(const EffectId& effect, std::chrono::nanoseconds now);

 private:
  std::map<EffectId, RunningEffect> running_;
};

/// The time limit of `effect` stands still from `now` on.
void hold_clock(RunningEffect& effect, std::chrono::nanoseconds now);
/// It runs again.
void release_clock(RunningEffect& effect, std::chrono::nanoseconds now);
/// What is left of the time limit; not below zero.
std::chrono::nanoseconds time_left(const RunningEffect& effect, std::chrono::nanoseconds now);

}  // namespace praxis::driver
