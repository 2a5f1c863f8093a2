// What one session may use, and for whom: cancellation, deadline, budget, permissions, principal and trace as
// one value. It is handed down the agent tree, and `narrowed` is the only way to make one from another: a
// sub-agent can have less than its parent, never more.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "praxis/domain/author.hpp"
#include "praxis/domain/trace.hpp"
#include "praxis/domain/usage.hpp"
#include "praxis/json/json.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Upper bounds; `std::nullopt`: no bound.
struct ScopeBudget {
  std::optional<MicroUsd> cost;
  std::optional<std::int64_t> tokens;
  std::optional<std::uint32_t> tool_calls;
  std::optional<std::uint32_t> steps;
};

struct Scope {
  std::vector<std::stop_token> cancellation;         ///< any of them cancels
  std::optional<std::chrono::nanoseconds> deadline;  ///< on the monotonic clock of the Environment
  ScopeBudget budget;
  std::vector<Json> permissions;  ///< policies (policy.hpp), root first: a call needs the permission of each
  Author principal;               ///< for whom the session works
  TraceContext trace;

  bool cancelled() const;
};

/// What a sub-agent is to have less.
struct Narrowing {
  std::stop_token cancellation = {};
  std::optional<std::chrono::nanoseconds> deadline = std::nullopt;
  ScopeBudget budget = {};
  std::optional<Json> permissions = std::nullopt;  ///< one more policy
  std::string span = {};                           ///< names the span: the id of the sub-agent
};

/// A scope within `above`: the earlier deadline, the lower bounds, the permissions of both, the principal of
/// `above`, and a span of its trace. Never wider than `above`.
Scope narrowed(const Scope& above, const Narrowing& by);

}  // namespace praxis
#pragma GCC visibility pop
