// The running effects of one session: which attempt runs, since when, and how much of its time limit is left.
// A value: it starts and stops nothing.
#pragma once

#include <chrono>
#include <cstddef>
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
  Token timer =
      0;  ///< of a tool's limit, of the delay of a model call, or of the timer effect itself; 0: unarmed
  Millis limit{0};          ///< of a tool; 0: no limit
  bool repeatable = false;  ///< may be retried after a timeout
  bool asked = false;       ///< a model call whose request was sent
  std::shared_ptr<const records::EffectIntended> delayed =
      {};                            ///< a retry of a model or tool call that backs off before it starts
  std::optional<Usage> stated = {};  ///< a failed model call: the usage that the vendor reported
  bool stopping = false;             ///< was asked to stop
  std::chrono::nanoseconds waited{
      0};  ///< time in which everything that works for the call waited for approvals, or that a timer slept
  std::optional<std::chrono::nanoseconds> waits_since = {};
};

/// An attempt at an effect.
using Attempt = std::pair<EffectId, std::uint32_t>;

class Effects {
 public:
  RunningEffect& begin(const records::EffectIntended& intent, std::chrono::nanoseconds now);
  /// Returns null when that attempt is not (or no longer) running.
  RunningEffect* find(const EffectId& effect, std::uint32_t attempt);
  const RunningEffect* find(const EffectId& effect, std::uint32_t attempt) const;
  bool contains(const EffectId& effect) const { return running_.contains(effect); }
  bool is_empty() const { return running_.empty(); }
  std::map<EffectId, RunningEffect>& all() { return running_; }
  const std::map<EffectId, RunningEffect>& all() const { return running_; }
  /// True while a model call is running.
  bool asks_model() const;
  /// True while the time limit of an effect is stopped.
  bool any_held() const { return held_ != 0; }

  /// Removes an effect and returns how long it ran, without the time that it waited; a timer ran all the
  /// time.
  Millis finish(const EffectId& effect, std::chrono::nanoseconds now);

  /// Stops the time limit of a running effect at `now`.
  void hold_clock(RunningEffect& effect, std::chrono::nanoseconds now);
  /// Restarts the time limit.
  void release_clock(RunningEffect& effect, std::chrono::nanoseconds now);
  /// Returns for how long at least one effect has been running, not waiting, since `finish` was called last.
  std::chrono::nanoseconds active(std::chrono::nanoseconds now) const;
  /// Returns that time as of the last `finish` and the one before it.
  Millis last_active() const { return std::chrono::duration_cast<Millis>(last_active_); }

 private:
  void count(std::chrono::nanoseconds now);

  std::chrono::nanoseconds counted_{0};      ///< until when `active_` is up to date
  std::chrono::nanoseconds active_{0};       ///< since the last `finish`
  std::chrono::nanoseconds last_active_{0};  ///< before that
  std::size_t held_ = 0;                     ///< effects whose time limit is stopped
  std::map<EffectId, RunningEffect> running_;
};

/// Returns the time that is left of the limit, at least 0.
std::chrono::nanoseconds time_left(const RunningEffect& effect, std::chrono::nanoseconds now);

}  // namespace praxis::driver
