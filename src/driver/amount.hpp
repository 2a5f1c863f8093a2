// The amount that an effect takes from a budget.
#pragma once

#include <cstdint>

#include "praxis/core/records.hpp"

namespace praxis {

struct Amount {
  std::int64_t tokens = 0;
  MicroUsd cost = {};
  std::int64_t calls = 0;  ///< of tools

  Amount& operator+=(const Amount& other) {
    tokens += other.tokens;
    cost.value += other.cost.value;
    calls += other.calls;
    return *this;
  }
  Amount& operator-=(const Amount& other) {
    tokens -= other.tokens;
    cost.value -= other.cost.value;
    calls -= other.calls;
    return *this;
  }
  bool operator==(const Amount&) const = default;
};

/// What an effect is expected to take from a budget before it has ended.
struct Estimate {
  Amount likely;   ///< reserved at least
  Amount longest;  ///< reserved at most
};

}  // namespace praxis
