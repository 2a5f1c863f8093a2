// Short blocking work that the event loop's own thread does while it is idle: this saves two thread switches.
#pragma once

#include "praxis/base/executor.hpp"

namespace praxis {

/// Hands `task`, which may block for about a millisecond, to the executor whose event loop the calling thread
/// runs. The loop runs it once no event is ready; if the task takes longer than expected, the standby thread
/// takes over the loop. Returns false and leaves `task` untouched if the thread runs no event loop, if it
/// runs a task that may block (and so could wait for `task`), or if such tasks have recently held up the
/// loop. The executor's destructor drops a task that has not started.
bool run_when_idle(Task& task);

}  // namespace praxis
