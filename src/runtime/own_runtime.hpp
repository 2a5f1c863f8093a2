// The runtime of an agent that a program made with `Agent::journal` or `Agent::runtime`.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "praxis/runtime/runtime.hpp"

namespace praxis {

/// Thread-safe. Agents hold it, and sessions do not: a session that waits must not keep its runtime.
class OwnRuntime {
 public:
  explicit OwnRuntime(std::shared_ptr<Runtime> runtime) : runtime_(std::move(runtime)) {}
  explicit OwnRuntime(std::shared_ptr<Journal> journal) : journal_(std::move(journal)) {}

  std::shared_ptr<Runtime> get() {
    const std::lock_guard lock(mutex_);
    if (!runtime_) {
      RuntimeOptions options;
      options.journal = journal_;
      runtime_ = Runtime::create(std::move(options));
    }
    return runtime_;
  }

  bool is(const Runtime& runtime) const {
    const std::lock_guard lock(mutex_);
    return runtime_.get() == &runtime;
  }

 private:
  const std::shared_ptr<Journal> journal_;
  mutable std::mutex mutex_;
  std::shared_ptr<Runtime> runtime_;  ///< null: not created yet
};

}  // namespace praxis
