#include "app/waiting_time.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <variant>

namespace praxis::app {

std::string_view to_string(WaitsFor what) {
  constexpr std::array<std::string_view, kAllWaits.size()> kNames{"people", "timers", "sub_agents",
                                                                  "retries"};
  return kNames.at(static_cast<std::size_t>(what));
}

Millis WaitingTime::total() const { return std::accumulate(times.begin(), times.end(), Millis{0}); }

WaitingTime& WaitingTime::operator+=(const WaitingTime& more) {
  std::ranges::transform(times, more.times, times.begin(), std::plus());
  return *this;
}

JsonObject waiting_json(const WaitingTime& waiting) {
  JsonObject json{{"total_ms", waiting.total().count()}};
  for (const WaitsFor what : kAllWaits) json[std::string(to_string(what)) + "_ms"] = waiting.of(what).count();
  return json;
}

WaitingTime WaitingFold::add(UnixMillis time, const RecordBody& body) {
  const WaitingTime waited = since_last(time);
  take(time, body);
  last_ = std::max(last_, time);
  return waited;
}

bool WaitingFold::has_child(const CallId& call) const {
  return std::ranges::any_of(children_, [&](const auto& child) { return child.second == call; });
}

WaitingTime WaitingFold::since_last(UnixMillis time) const {
  WaitingTime waited;
  if (!open_ || time <= last_) return waited;
  std::optional<WaitsFor> what;
  if (!parked_.empty()) what = WaitsFor::kPeople;
  UnixMillis until = time;
  for (const auto& [id, effect] : effects_) {
    if (effect.kind == EffectKind::kTimer) {
      what = what.value_or(WaitsFor::kTimers);
    } else if (effect.kind == EffectKind::kTool && has_child(effect.call)) {
      what = what.value_or(WaitsFor::kSubAgents);
    } else if (effect.begins > last_) {
      what = what.value_or(WaitsFor::kRetries);
      until = std::min(until, effect.begins);
    } else {
      return waited;  // it works
    }
  }
  if (what) waited.times.at(static_cast<std::size_t>(*what)) = until - last_;
  return waited;
}

void WaitingFold::take(UnixMillis time, const RecordBody& body) {
  if (std::holds_alternative<records::TurnStarted>(body) ||
      std::holds_alternative<records::TurnSettled>(body)) {
    *this = WaitingFold();
    open_ = std::holds_alternative<records::TurnStarted>(body);
    last_ = time;
  } else if (const auto* intent = std::get_if<records::EffectIntended>(&body)) {
    const bool backs_off = intent->kind == EffectKind::kModel;
    effects_[intent->effect] = {intent->kind, intent->call, backs_off ? time + intent->delay : time};
  } else if (const auto* settled = std::get_if<records::EffectSettled>(&body)) {
    effects_.erase(settled->effect);
  } else if (const auto* spawned = std::get_if<records::ChildSpawned>(&body)) {
    children_[spawned->child] = spawned->call;
  } else if (const auto* ended = std::get_if<records::ChildSettled>(&body)) {
    children_.erase(ended->child);
  } else if (const auto* parked = std::get_if<records::Parked>(&body)) {
    parked_.insert(parked->step.id);
    // What became of a call that a crash cut off is a question to people: it does not run.
    std::erase_if(effects_, [&](const auto& each) {
      return each.second.call == parked->step.call && !parked->step.call.empty();
    });
  } else if (const auto* decided = std::get_if<records::Decided>(&body)) {
    parked_.erase(decided->park);
  }
}

}  // namespace praxis::app
