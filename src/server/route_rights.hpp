// The right that each route needs: the one table that says so.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "praxis/domain/rights.hpp"
#include "server/call.hpp"
#include "server/routes.hpp"

namespace praxis::server {

/// The route holds no data and needs no token.
struct OpenToAll {
  bool operator==(const OpenToAll&) const = default;
};
/// Several operations share the route; each one checks its right.
struct ByOperation {
  bool operator==(const ByOperation&) const = default;
};
using RouteNeeds = std::variant<Right, OpenToAll, ByOperation>;

/// What a route needs; nothing: the table has no row for it, so that only `administer` lets it pass.
std::optional<RouteNeeds> needs_of(const Route& route);

/// Error `kPolicy` with `right` in its detail: the principal has not this right.
Status check_right(const Principal& principal, Right right);
/// Error `kNotFound`, as for an agent that is not there: the token may not use it.
Status check_agent(const Call& call, const std::string& agent);

}  // namespace praxis::server
