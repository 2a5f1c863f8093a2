// What the supervisor and bubblewrap are told so that a command runs in a sandbox.
#pragma once

#include <string>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/process/sandbox.hpp"
#include "process/supervisor_protocol.hpp"

namespace praxis {

/// The options of bubblewrap for `sandbox`, its first program not among them; what else is needed goes into
/// `request`, whose settings, folder and environment are already filled in. Error `kPolicy`: the sandbox
/// cannot be built as asked.
Result<std::vector<std::string>> plan_sandbox(const Sandbox& sandbox, supervisor::Request& request);

}  // namespace praxis
