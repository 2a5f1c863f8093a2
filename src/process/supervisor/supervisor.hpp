// The supervisor of one command: starts it, reads its output, ends all of it when told to, when its time is
// over or when the process that asked for it is gone, and says how it ended. It runs in a process of its own.
#pragma once

#include "process/supervisor_protocol.hpp"

namespace praxis::supervisor {

/// Runs the command to its end and beyond: returns when no process of it is left.
void supervise(const Request& request);

/// Tells the library that nothing was started.
void refuse(Progress progress, std::string_view text = {});

}  // namespace praxis::supervisor
