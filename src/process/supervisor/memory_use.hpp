// Measures the memory that several processes hold together. The kernel bounds the memory of one process only,
// unless a control group is delegated to the user, which is rare.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace praxis::supervisor {

/// Whether these processes hold more than `bytes` together. Memory that they share counts once: each is
/// charged its proportional part. Processes that have ended count nothing.
bool holds_more_than(std::uint64_t bytes, const std::vector<pid_t>& processes);

}  // namespace praxis::supervisor
