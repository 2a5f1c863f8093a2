// What the turns of an agent tree may still spend. Each turn has a budget below that of the call that made
// its session; what is spent counts at every budget up to the root.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "praxis/base/executor.hpp"
#include "praxis/core/records.hpp"

namespace praxis {

struct Amount {
  std::int64_t tokens = 0;
  MicroUsd cost = {};
  std::int64_t calls = 0;  ///< of tools
  Amount& operator+=(const Amount& other);
  Amount& operator-=(const Amount& other);
};

/// Thread-safe. What is reserved counts as spent until it is settled, so effects side by side cannot
/// overshoot a budget together; a single one can, by what it takes beyond its estimate.
class Budget : public std::enable_shared_from_this<Budget> {
 public:
  /// `spent` is what the turn has spent already; of it, `unknown_above` is not counted above yet.
  static std::shared_ptr<Budget> create(std::shared_ptr<Budget> above, const Limits& limits,
                                        const Amount& spent, const Amount& unknown_above);

  /// Holds an amount until it is settled or given back by destruction. Movable.
  class Grant {
   public:
    Grant(std::shared_ptr<Budget> budget, Amount amount) : budget_(std::move(budget)), amount_(amount) {}
    Grant(Grant&&) noexcept = default;
    Grant& operator=(Grant&&) = delete;
    ~Grant() { settle({}); }
    /// What was held becomes what was really spent.
    void settle(const Amount& spent);

   private:
    std::shared_ptr<Budget> budget_;
    Amount amount_;
  };
  /// Others hold what is left: `when_free` is called once, as soon as something was given back.
  struct Busy {};
  /// A grant, or why there is none: the reason names the limit that is spent.
  using Answer = std::variant<Grant, Busy, StopReason>;
  Answer reserve(const Amount& amount, Task when_free);

 private:
  /// Of a whole tree: one lock, since an effect touches every budget from its own to the root's.
  struct Shared {
    std::mutex mutex;
    std::vector<Task> waiting;
  };

  Budget(std::shared_ptr<Budget> above, const Limits& limits);
  void settle(const Amount& held, const Amount& spent);

  const std::shared_ptr<Budget> above_;
  const std::shared_ptr<Shared> shared_;
  const Amount limit_;  ///< zero: none
  Amount spent_;
  Amount held_;
};

}  // namespace praxis
