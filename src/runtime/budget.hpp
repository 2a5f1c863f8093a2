// What the turns of an agent tree may still spend. The budget of each turn lies below that of the call that
// created its session; spending counts at every budget up to the root.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "driver/amount.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/core/records.hpp"

namespace praxis {

/// Thread-safe. A reservation counts as spent until it is settled, so parallel effects cannot overshoot a
/// budget together as long as each stays within its reservation. An effect that needs more extends it; when
/// the budget has no more, one effect at a time may exceed it, and all others are refused.
class Budget : public std::enable_shared_from_this<Budget> {
 public:
  /// `spent` is what the turn has spent already; its part `unknown_above` is not yet counted at the budgets
  /// above.
  static std::shared_ptr<Budget> create(std::shared_ptr<Budget> above, const Limits& limits,
                                        const Amount& spent, const Amount& unknown_above);

  /// Holds an amount until it is settled, or returned by destruction. Movable.
  class Grant {
   public:
    Grant(std::shared_ptr<Budget> budget, Amount amount, std::uint64_t id)
        : budget_(std::move(budget)), amount_(amount), id_(id) {}
    Grant(Grant&&) noexcept = default;
    Grant& operator=(Grant&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(amount_, other.amount_);
      std::swap(id_, other.id_);
      return *this;
    }
    ~Grant() { settle({}); }
    /// Raises the held amount to at least `used`. Returns the exhausted limit when another effect has already
    /// taken more than the budget had left.
    std::optional<StopReason> extend(const Amount& used);
    /// Replaces the held amount by what was really spent.
    void settle(const Amount& spent);

   private:
    std::shared_ptr<Budget> budget_;
    Amount amount_;
    std::uint64_t id_;  ///< unique in the tree; not 0
  };
  /// Other effects hold the rest of the budget. `when_free` is called once, as soon as one of them returns a
  /// part of it.
  struct Busy {};
  /// A grant, or why the amount is refused: the stop reason names the exhausted limit.
  using Answer = std::variant<Grant, Busy, StopReason>;
  /// Counts an amount without a reservation, here and at the budgets above.
  void spend(const Amount& amount) { settle({}, amount); }
  /// Holds the likely amount, or more while much is left: an eighth of the rest, at most the longest.
  Answer reserve(const Estimate& estimate, Task when_free);

 private:
  /// One lock for a whole tree, since an effect touches every budget from its own to the root's.
  struct Shared {
    std::mutex mutex;
    std::vector<Task> waiting;
    std::uint64_t last_grant = 0;
  };

  Budget(std::shared_ptr<Budget> above, const Limits& limits);
  void settle(const Amount& held, const Amount& spent);
  std::optional<StopReason> extend(const Amount& extra, std::uint64_t grant);
  Amount amount_for(const Estimate& estimate) const;
  /// Returns the limit that the reservations would exceed with `extra`.
  std::optional<StopReason> exceeded(const Amount& extra) const;

  const std::shared_ptr<Budget> above_;
  const std::shared_ptr<Shared> shared_;
  const Amount limit_;  ///< zero: no limit
  Amount spent_;
  Amount held_;
  std::uint64_t exceeded_by_ = 0;  ///< the grant that took more than was left; 0: none
};

}  // namespace praxis
