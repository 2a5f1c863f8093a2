// The first program in the sandbox. Bubblewrap has made the room; this locks what is left open, in an order
// in which each step still may do what it must, and becomes the command.
#pragma once

#include "process/supervisor_protocol.hpp"

namespace praxis::supervisor {

/// Returns only if something failed; the supervisor has then been told.
void enter(const Request& request);

}  // namespace praxis::supervisor
