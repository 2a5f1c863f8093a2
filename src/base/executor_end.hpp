// Waits until an executor works no more. Dropping a reference is not enough: its tasks may hold others, and
// would go on, also while the program ends.
#pragma once

#include <chrono>
#include <memory>

#include "praxis/base/executor.hpp"

namespace praxis {

/// The end of one executor. Holds no reference to it. Thread-safe.
class ExecutorEnd {
 public:
  /// That of an executor from `make_executor`; any other has ended for it.
  explicit ExecutorEnd(const std::shared_ptr<Executor>& executor);

  /// Waits until the last reference is dropped and all tasks and threads of the executor have ended. False:
  /// they have not within `patience`. Not for a thread of the executor, and only once the caller has dropped
  /// its own references.
  bool wait(std::chrono::milliseconds patience) const;

  struct Ended;

 private:
  std::shared_ptr<Ended> ended_;  ///< null: there is nothing to wait for
};

}  // namespace praxis
