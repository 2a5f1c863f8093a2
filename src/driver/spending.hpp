// What one turn has asked of the budgets above it, and what it was granted. A value: the budgets themselves
// are shared by a whole agent tree and live in the shell.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "driver/input.hpp"
#include "praxis/core/state.hpp"

namespace praxis::driver {

/// What is known of the model that a session asks.
struct ModelFacts {
  std::int64_t max_output = 0;                  ///< tokens; 0 when unknown
  std::function<MicroUsd(const Usage&)> price;  ///< pure; empty for an agent without a model
  bool options_may_change = false;              ///< a hook may raise the limit on the answer
};

/// One thing that is to be paid for: asked once, then granted, used and settled.
class Reservation {
 public:
  /// Whether a new request has to be made: none is under way or granted.
  bool asks() const { return phase_ == Phase::kNone; }
  bool awaits_answer() const { return phase_ == Phase::kAsked; }
  bool granted() const { return phase_ == Phase::kGranted; }
  void asked(Token request);
  /// False when the answer is to another request. What is refused, or has to wait, is not granted.
  bool answered(const BudgetAnswered& answer);
  /// Others gave something back: ask again. False when that changes nothing.
  bool freed();
  /// The request that was granted, which this no longer holds; nothing if not granted.
  std::optional<Token> take();

 private:
  enum class Phase : std::uint8_t { kNone, kAsked, kBusy, kGranted };
  Phase phase_ = Phase::kNone;
  Token request_ = 0;
};

/// Whether tokens, money or calls of a turn with these limits are bounded.
bool is_bounded(const Limits& limits);
/// What the next model call may take: the request, and the longest answer it may get. Where nothing says how
/// long that is or what it costs, more than any limit leaves: such a call is made while no other draws on it.
Amount longest_answer(const State& state, const ModelFacts& model);
/// What a model call is taken to have used that ended without an answer, after `arrived` bytes of one: what
/// the vendor stated, or the request and what arrived.
Usage used_without_answer(const State& state, const ModelFacts& model, const std::optional<Usage>& stated,
                          std::size_t arrived);
/// What a model call is taken to have used that another process left.
Usage used_in_doubt(const State& state, const ModelFacts& model);

}  // namespace praxis::driver
