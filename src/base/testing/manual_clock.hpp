// An environment for tests whose clocks are the virtual time of a `ManualExecutor`.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/testing/manual_executor.hpp"
#include "praxis/base/environment.hpp"

namespace praxis {

/// Thread-safe. Begins in November 2023; its random numbers are 1, 2, 3 and so on.
class ManualClock final : public Environment {
 public:
  explicit ManualClock(std::shared_ptr<ManualExecutor> executor) : executor_(std::move(executor)) {}
  UnixMillis now() override {
    return {kStart + std::chrono::duration_cast<Millis>(executor_->now()).count()};
  }
  std::chrono::nanoseconds monotonic() override { return executor_->now(); }
  std::uint64_t random() override { return ++random_; }

 private:
  static constexpr std::int64_t kStart = 1'700'000'000'000;
  const std::shared_ptr<ManualExecutor> executor_;
  std::atomic<std::uint64_t> random_ = 0;
};

}  // namespace praxis
