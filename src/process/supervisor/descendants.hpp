// The processes below this one, wherever they have moved: the supervisor is the reaper of its orphans, so a
// new session or a second fork does not lead out.
#pragma once

#include <sys/types.h>

#include <vector>

namespace praxis::supervisor {

/// All processes whose parent's parent's... parent is this one, as /proc shows them now; without zombies.
std::vector<pid_t> descendants();

}  // namespace praxis::supervisor
