// What one session may use, and for whom: cancellation, deadline, budget, permissions, principal and trace as
// one value. It is handed down the agent tree, and `narrowed` is the only way to make one from another: a
// sub-agent can have less than its parent, never more.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <vector>

#include "praxis/domain/author.hpp"
#include "praxis/domain/trace.hpp"
#include "praxis/json/json.hpp"
#include "runtime/budget.hpp"

namespace praxis {

/// A value; copies share the budget.
struct Scope {
  using Deadline = std::chrono::steady_clock::time_point;

  std::stop_token cancellation = {};         ///< of the call that the session works for; a root has none
  Deadline deadline = Deadline::max();       ///< of that call and all above it
  std::shared_ptr<Budget> budget = nullptr;  ///< of the turn of that call; null: nothing is bounded
  std::vector<Json> permissions = {};        ///< policies, root first: a call needs the permission of each
  Author principal = by_library();           ///< for whom the session works
  TraceContext trace = {};                   ///< of that call; a session's own span lies below it
};

/// The bounds of a call, within those of its session.
struct Narrowing {
  std::stop_token cancellation = {};
  Scope::Deadline deadline = Scope::Deadline::max();
  std::shared_ptr<Budget> budget = nullptr;  ///< lies below the budget of the session's scope
  Json policy = nullptr;                     ///< of the agent that makes the call
  TraceContext trace = {};
};

/// Returns the scope of a call in a session with the scope `above`: the earlier deadline, the permissions of
/// both, the budget below, the same principal.
Scope narrowed(const Scope& above, Narrowing by);

}  // namespace praxis
