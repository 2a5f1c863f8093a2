// The executor of a server, which ends with it.
#pragma once

#include <chrono>
#include <memory>
#include <tuple>
#include <utility>

#include "base/executor_end.hpp"

namespace praxis::server {

/// Waits, when it is destroyed, until the executor works no more: what is still at work may use what the
/// caller destroys next, such as the static data of a program that returns from `main`. To be destroyed after
/// what else holds the executor, and not on a thread of the executor.
class OwnExecutor {
 public:
  explicit OwnExecutor(std::shared_ptr<Executor> executor) : executor_(std::move(executor)) {}
  ~OwnExecutor() {
    const ExecutorEnd end(executor_);
    executor_.reset();
    std::ignore = end.wait(kLeaving);
  }
  OwnExecutor(const OwnExecutor&) = delete;
  OwnExecutor& operator=(const OwnExecutor&) = delete;

  const std::shared_ptr<Executor>& get() const { return executor_; }

 private:
  static constexpr std::chrono::seconds kLeaving{2};  // for a call that does not stop at once

  std::shared_ptr<Executor> executor_;
};

}  // namespace praxis::server
