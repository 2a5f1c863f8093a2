// Supervises one command: starts it, reads its output, ends all its processes on request, when its time is
// over or when the owner process is gone, and reports how it ended. Runs in a process of its own.
#pragma once

#include "process/supervisor_protocol.hpp"

namespace praxis::supervisor {

/// Runs the command; returns when no process of it is left.
void supervise(const Request& request);

/// Reports to the library that nothing was started.
void refuse(Progress progress, std::string_view text = {});

}  // namespace praxis::supervisor
