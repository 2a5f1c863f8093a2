// Plans a sandbox: the options of bubblewrap and the request to the supervisor.
#pragma once

#include <string>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/process/sandbox.hpp"
#include "process/supervisor_protocol.hpp"

namespace praxis {

/// Returns the options of bubblewrap for `sandbox`, without the program to run. Adds what the supervisor
/// needs to `request`, whose settings, folder and environment must already be set. Error `kPolicy`: the
/// sandbox cannot be built as requested.
Result<std::vector<std::string>> plan_sandbox(const Sandbox& sandbox, supervisor::Request& request);

/// Names a version of the kernel's Landlock, and the parts of the sandbox that it is too old for.
std::string landlock_text(long version);

}  // namespace praxis
