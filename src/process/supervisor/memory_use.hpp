// Measures the memory that several processes hold together. The kernel bounds the memory of one process only,
// unless this user may make a control group (memory_group.hpp).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace praxis::supervisor {

/// Whether these processes of a sandbox hold more than `bytes` together, with the files in its temporary
/// folders. Memory that they share counts once: each is charged its proportional part. Processes that have
/// ended count nothing.
bool holds_more_than(std::uint64_t bytes, const std::vector<pid_t>& processes);

}  // namespace praxis::supervisor
