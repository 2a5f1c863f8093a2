// Whether a workspace and the machine are set up well: what `praxis doctor` reports. Findings never hold
// secrets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/workspace.hpp"

namespace praxis::app {

enum class Health : std::uint8_t { kGood, kMissing, kBad };
/// `ok`, `missing` or `failed`.
std::string_view to_string(Health health);
/// The opposite; anything else is `kBad`.
Health health_from(std::string_view name);

/// The result of one check.
struct Finding {
  std::string name;
  Health health = Health::kGood;
  std::string detail;
};

/// Checks configuration, project, journal, pending steps, model and providers. Reads the newest runs of the
/// journal, so call it on a worker. With `online`, it also asks the providers, which may take seconds.
std::vector<Finding> examine_workspace(const Workspace& workspace, bool online);

/// Checks whether `shell` and `python` can run.
std::vector<Finding> examine_sandbox();

/// Whether none of them is bad.
bool are_healthy(const std::vector<Finding>& findings);

}  // namespace praxis::app
