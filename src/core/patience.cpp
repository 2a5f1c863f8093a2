#include "core/patience.hpp"

#include <algorithm>
#include <string>

#include "core/backoff.hpp"

namespace praxis {
namespace {

constexpr Millis kFirstBackoff{500};
// Without patience, a vendor that asks for a longer wait counts as failed.
constexpr Millis kLongestRetryAfter{60'000};

bool is_outage(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::kNetwork:
    case ErrorKind::kOverloaded:
    case ErrorKind::kRateLimit:
    case ErrorKind::kTimeout:
      return true;
    case ErrorKind::kServer:
      return json_int(error.detail(), "status") >= 502;  // of a gateway whose server does not answer
    default:
      return false;
  }
}

/// The wait that the server asks for.
std::optional<Millis> asked_delay(const EffectState& failed) {
  const Json& asked = json_at(failed.error->detail(), "retry_after_ms");
  if (!asked.is_int64()) return std::nullopt;
  return Millis{std::max<std::int64_t>(asked.get_int64(), 0)};
}

Millis patience_left(const State& state, const EffectState& failed) {
  return std::max(state.agent->limits.patience - failed.waited, Millis{0});
}

/// The delay of a call that is waited out. An attempt that takes all of the patience, because the server
/// stalls, is repeated once.
std::optional<Millis> delay_within_patience(const State& state, const EffectState& failed) {
  const Millis left = patience_left(state, failed);
  if (const auto asked = asked_delay(failed)) return *asked > left ? std::nullopt : asked;
  const Millis delay = backoff(kFirstBackoff, state.id, failed.effect, failed.attempt);
  if (left.count() == 0) return failed.attempt == 1 ? std::optional(delay) : std::nullopt;
  return std::min(delay, left);
}

std::string in_seconds(Millis time) {
  if (time.count() < 1000) return std::to_string(time.count()) + " ms";
  const auto tenths = (time.count() + 50) / 100;
  std::string text = std::to_string(tenths / 10);
  if (tenths % 10 != 0) text += '.' + std::to_string(tenths % 10);
  return text + " s";
}

}  // namespace

bool waits_out(const State& state, const EffectState& failed) {
  const Limits& limits = state.agent->limits;
  return limits.patience.count() != 0 && limits.max_model_attempts != 1 && failed.error &&
         failed.error->retriable && is_outage(*failed.error);
}

bool may_retry(const State& state, const EffectState& failed) {
  const Limits& limits = state.agent->limits;
  const bool spent = limits.max_model_retries != 0 && state.turn->model_retries >= limits.max_model_retries;
  return failed.attempt - failed.outages < limits.max_model_attempts && !spent;
}

std::optional<Millis> retry_delay(const State& state, const EffectState& failed) {
  if (!failed.error->retriable) return std::nullopt;
  if (waits_out(state, failed)) return delay_within_patience(state, failed);
  if (!may_retry(state, failed)) return std::nullopt;
  const auto asked = asked_delay(failed);
  if (!asked) return backoff(kFirstBackoff, state.id, failed.effect, failed.attempt);
  return *asked > kLongestRetryAfter ? std::nullopt : asked;
}

Error why_given_up(const State& state, const EffectState& failed) {
  Error error = *failed.error;
  if (!waits_out(state, failed)) return error;
  const std::string patience = in_seconds(state.agent->limits.patience);
  if (const auto asked = asked_delay(failed); asked && *asked > patience_left(state, failed)) {
    error.message += "; the server asks to wait " + in_seconds(*asked) +
                     ", which exceeds what is left of the patience of " + patience;
  } else {
    error.message += "; gave up after " + std::to_string(failed.attempt) + " attempts in " +
                     in_seconds(failed.waited) + ", with a patience of " + patience;
  }
  return error;
}

}  // namespace praxis
