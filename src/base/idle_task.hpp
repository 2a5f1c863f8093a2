// Work that holds up an event loop for a moment, done by the loop's own thread when that has nothing else to
// do: it spares two switches of threads.
#pragma once

#include "praxis/base/executor.hpp"

namespace praxis {

/// Leaves `task`, which may block for about a millisecond, to the executor whose event loop the calling
/// thread runs. It is run once nothing else is ready there; should it take longer than thought, the thread
/// that stands by goes on with the loop. False, and `task` is untouched, when the thread runs no event loop,
/// or something that may block and could wait for `task`, or when such tasks have lately held the loop up. It
/// is dropped, as any task, when the executor ends before.
bool run_when_idle(Task& task);

}  // namespace praxis
