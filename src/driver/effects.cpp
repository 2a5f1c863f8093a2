#include "driver/effects.hpp"

#include <algorithm>

namespace praxis::driver {

RunningEffect& Effects::begin(const records::EffectIntended& intent, std::chrono::nanoseconds now) {
  count(now);
  RunningEffect& effect = running_[intent.effect];
  effect = RunningEffect{};
  effect.kind = intent.kind;
  effect.attempt = intent.attempt;
  effect.started = now;
  return effect;
}

RunningEffect* Effects::find(const EffectId& effect, std::uint32_t attempt) {
  const auto found = running_.find(effect);
  return found == running_.end() || found->second.attempt != attempt ? nullptr : &found->second;
}

const RunningEffect* Effects::find(const EffectId& effect, std::uint32_t attempt) const {
  const auto found = running_.find(effect);
  return found == running_.end() || found->second.attempt != attempt ? nullptr : &found->second;
}

bool Effects::asks_model() const {
  return std::ranges::any_of(running_, [](const auto& e) { return e.second.kind == EffectKind::kModel; });
}

Millis Effects::finish(const EffectId& effect, std::chrono::nanoseconds now) {
  count(now);
  last_active_ = std::exchange(active_, std::chrono::nanoseconds{0});
  auto done = running_.extract(effect);
  if (!done) return Millis{0};
  release_clock(done.mapped(), now);
  const bool sleeps = done.mapped().kind == EffectKind::kTimer;
  const auto waited = sleeps ? std::chrono::nanoseconds{0} : done.mapped().waited;
  return std::chrono::duration_cast<Millis>(now - done.mapped().started - waited);
}

std::chrono::nanoseconds Effects::active(std::chrono::nanoseconds now) const {
  const bool runs = std::ranges::any_of(running_, [](const auto& e) { return !e.second.waits_since; });
  return runs ? active_ + (now - counted_) : active_;
}

/// Must be called before an effect starts, ends, waits or continues.
void Effects::count(std::chrono::nanoseconds now) {
  active_ = active(now);
  counted_ = now;
}

void Effects::hold_clock(RunningEffect& effect, std::chrono::nanoseconds now) {
  count(now);
  if (effect.waits_since) return;
  effect.waits_since = now;
  ++held_;
}

void Effects::release_clock(RunningEffect& effect, std::chrono::nanoseconds now) {
  count(now);
  if (!effect.waits_since) return;
  effect.waited += now - *std::exchange(effect.waits_since, std::nullopt);
  --held_;
}

std::chrono::nanoseconds time_left(const RunningEffect& effect, std::chrono::nanoseconds now) {
  const auto spent = now - effect.started - effect.waited;
  return std::max<std::chrono::nanoseconds>(effect.limit - spent, std::chrono::nanoseconds{0});
}

}  // namespace praxis::driver
