// Finds all descendants of this process. The supervisor is the subreaper of its orphans, so neither a new
// session nor a double fork escapes from it.
#pragma once

#include <sys/types.h>

#include <vector>

namespace praxis::supervisor {

/// Returns the direct and indirect children of this process that /proc shows now, without zombies.
std::vector<pid_t> descendants();

}  // namespace praxis::supervisor
