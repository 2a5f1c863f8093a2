// The first program in the box. Bubblewrap has made the room; this locks what is left open, in an order in
// which each step still may do what it must, and becomes the command.
#pragma once

#include "process/supervisor_protocol.hpp"

namespace praxis::keeper {

/// Returns only if something failed; the keeper has then been told.
void enter(const Request& request);

}  // namespace praxis::keeper
