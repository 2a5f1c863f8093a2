// Connects the sandbox to the proxy: forwards every connection to a port on its loopback to one Unix socket.
#pragma once

#include <string>

namespace praxis::supervisor {

/// Listens on 127.0.0.1 and forwards in a process of its own, which is not a child of this process and ends
/// with the sandbox. False, with errno, on failure.
bool start_forwarder(const std::string& proxy);

}  // namespace praxis::supervisor
