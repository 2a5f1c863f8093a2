// How long runs wait for something outside: a projection of their logs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include "praxis/base/time.hpp"
#include "praxis/core/records.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {

/// What a turn waits for while it neither asks a model nor runs a tool.
enum class WaitsFor : std::uint8_t {
  kPeople,     ///< an approval, an answer, or a result that a client owes
  kTimers,     ///< a sleep of a plan
  kSubAgents,  ///< sub-agents of a tool call
  kRetries,    ///< the delay before another attempt at a model call: rate limits, overloaded servers
};
inline constexpr std::array<WaitsFor, 4> kAllWaits{WaitsFor::kPeople, WaitsFor::kTimers, WaitsFor::kSubAgents,
                                                   WaitsFor::kRetries};
/// `people`, `timers`, `sub_agents`, `retries`.
std::string_view to_string(WaitsFor what);

/// Times by what was waited for.
struct WaitingTime {
  std::array<Millis, kAllWaits.size()> times = {};  ///< by `WaitsFor`

  Millis of(WaitsFor what) const { return times.at(static_cast<std::size_t>(what)); }
  Millis total() const;
  WaitingTime& operator+=(const WaitingTime& more);
};
/// `{total_ms, people_ms, timers_ms, sub_agents_ms, retries_ms}`
JsonObject waiting_json(const WaitingTime& waiting);

/// Follows the log of one session.
class WaitingFold {
 public:
  /// Takes the next record. Returns how long the turn waited between the record before and this one.
  WaitingTime add(UnixMillis time, const RecordBody& body);
  /// Whether a turn is open: without one, nothing counts as waiting.
  bool is_open() const { return open_; }

 private:
  struct Effect {
    EffectKind kind = EffectKind::kModel;
    CallId call;
    UnixMillis begins;  ///< after its delay
  };

  WaitingTime since_last(UnixMillis time) const;
  void take(UnixMillis time, const RecordBody& body);
  bool has_child(const CallId& call) const;

  bool open_ = false;
  UnixMillis last_ = {};
  std::map<EffectId, Effect> effects_;
  std::map<SessionId, CallId> children_;
  std::set<ParkId> parked_;
};

}  // namespace praxis::app
