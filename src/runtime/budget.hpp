// What the turns of an agent tree may still spend. The budget of each turn lies below that of the call that
// created its session; spending counts at every budget up to the root.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "driver/amount.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/core/records.hpp"

namespace praxis {

/// Thread-safe. A reservation counts as spent until it is settled, so parallel effects cannot overshoot a
/// budget together; a single effect can, by what it uses beyond its estimate.
class Budget : public std::enable_shared_from_this<Budget> {
 public:
  /// `spent` is what the turn has spent already; its part `unknown_above` is not yet counted at the budgets
  /// above.
  static std::shared_ptr<Budget> create(std::shared_ptr<Budget> above, const Limits& limits,
                                        const Amount& spent, const Amount& unknown_above);

  /// Holds an amount until it is settled, or returned by destruction. Movable.
  class Grant {
   public:
    Grant(std::shared_ptr<Budget> budget, Amount amount) : budget_(std::move(budget)), amount_(amount) {}
    Grant(Grant&&) noexcept = default;
    Grant& operator=(Grant&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(amount_, other.amount_);
      return *this;
    }
    ~Grant() { settle({}); }
    /// Replaces the held amount by what was really spent.
    void settle(const Amount& spent);

   private:
    std::shared_ptr<Budget> budget_;
    Amount amount_;
  };
  /// Other effects hold the rest of the budget. `when_free` is called once, as soon as one of them returns a
  /// part of it.
  struct Busy {};
  /// A grant, or why the amount is refused: the stop reason names the exhausted limit.
  using Answer = std::variant<Grant, Busy, StopReason>;
  Answer reserve(const Amount& amount, Task when_free);

 private:
  /// One lock for a whole tree, since an effect touches every budget from its own to the root's.
  struct Shared {
    std::mutex mutex;
    std::vector<Task> waiting;
  };

  Budget(std::shared_ptr<Budget> above, const Limits& limits);
  void settle(const Amount& held, const Amount& spent);

  const std::shared_ptr<Budget> above_;
  const std::shared_ptr<Shared> shared_;
  const Amount limit_;  ///< zero: no limit
  Amount spent_;
  Amount held_;
};

}  // namespace praxis
