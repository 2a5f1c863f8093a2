// The clocks of a simulated process and its randomness. The wall clock jumps now and then.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "fault.hpp"
#include "praxis/base/environment.hpp"

namespace praxis::faults {

class JumpingClock final : public Environment {
 public:
  JumpingClock(std::function<std::chrono::nanoseconds()> passed, std::uint64_t seed)
      : passed_(std::move(passed)), random_(seed) {}
  UnixMillis now() override {
    if (random_.once_in(400)) jumped_ += Millis{static_cast<std::int64_t>(random_.below(20'000)) - 10'000};
    return UnixMillis{1'700'000'000'000} + jumped_ + std::chrono::duration_cast<Millis>(passed_());
  }
  std::chrono::nanoseconds monotonic() override { return passed_(); }
  std::uint64_t random() override { return random_(); }

 private:
  const std::function<std::chrono::nanoseconds()> passed_;
  Random random_;
  Millis jumped_{0};
};

}  // namespace praxis::faults
