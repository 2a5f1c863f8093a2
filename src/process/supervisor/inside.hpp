// The first program in the sandbox. Bubblewrap has built the name spaces and mounts; this program applies the
// remaining restrictions, in an order in which each step still has the rights it needs, and then executes the
// command.
#pragma once

#include "process/supervisor_protocol.hpp"

namespace praxis::supervisor {

/// Returns only on failure, after reporting it to the supervisor.
void enter(const Request& request);

}  // namespace praxis::supervisor
