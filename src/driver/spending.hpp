// The budget requests of one turn and the amounts granted. A value: the budgets themselves are shared by a
// whole agent tree and live in the shell.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "driver/input.hpp"
#include "praxis/core/state.hpp"

namespace praxis::driver {

/// Facts about the model of a session.
struct ModelFacts {
  std::int64_t max_output = 0;                  ///< tokens; 0 when unknown
  std::function<MicroUsd(const Usage&)> price;  ///< pure; empty for an agent without a model
  bool options_may_change = false;              ///< a hook may raise the limit on the answer
};

/// A reservation for one effect: requested, then granted, used and settled.
class Reservation {
 public:
  /// True when a new request is needed: none is in progress or granted.
  bool asks() const { return phase_ == Phase::kNone; }
  bool awaits_answer() const { return phase_ == Phase::kAsked; }
  /// True while other effects hold what the request needs.
  bool waits() const { return phase_ == Phase::kBusy; }
  bool granted() const { return phase_ == Phase::kGranted; }
  void asked(Token request);
  /// Takes the answer to the request. Returns false when `answer` belongs to another request.
  bool answered(const BudgetAnswered& answer);
  /// Other effects released a part of the budget: request again. Returns false when no request was waiting.
  bool freed();
  /// Returns the granted request; nothing when none is granted.
  std::optional<Token> request() const { return granted() ? std::optional(request_) : std::nullopt; }
  /// Gives up the granted request and returns it; nothing when none was granted.
  std::optional<Token> take();

 private:
  enum class Phase : std::uint8_t { kNone, kAsked, kBusy, kGranted };
  Phase phase_ = Phase::kNone;
  Token request_ = 0;
};

/// True when these limits bound the tokens, the money or the tool calls of a turn.
bool is_bounded(const Limits& limits);
/// Upper bound for the next model call: the request and the longest possible answer. When length or price is
/// unknown, more than any limit leaves: such a call runs only while no other effect holds a reservation.
Amount longest_answer(const State& state, const ModelFacts& model);
/// What the next model call is likely to use, and its upper bound. Likely are the request and an answer twice
/// as long as the longest of this turn, or as the average of the session; a usual one when there is neither.
/// Tokens of unknown price count with a price above that of almost every model.
Estimate estimate_call(const State& state, const ModelFacts& model);
/// Estimated usage of a model call that ended without an answer after `arrived` bytes: the usage that the
/// vendor reported, or the request and the received bytes.
Usage used_without_answer(const State& state, const ModelFacts& model, const std::optional<Usage>& stated,
                          std::size_t arrived);
/// Estimated usage of a model call that another process left unfinished.
Usage used_in_doubt(const State& state, const ModelFacts& model);

}  // namespace praxis::driver
