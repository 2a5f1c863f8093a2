// Whether a server of Restate can carry the running turns of `praxis serve --engine restate`.
#pragma once

#include <string>
#include <vector>

#include "app/doctor.hpp"

namespace praxis::app {

/// Base URLs.
struct RestatePlace {
  std::string ingress, admin;
  std::string reached_at;  ///< where Restate reaches `praxis serve`
};

/// Asks ingress and admin API; one finding for each of: ingress, admin API, version, registration. Those that
/// need an answer of the admin API are left out without one. Changes nothing. Blocks for at most some
/// seconds.
std::vector<Finding> examine_restate(const RestatePlace& place);

}  // namespace praxis::app
