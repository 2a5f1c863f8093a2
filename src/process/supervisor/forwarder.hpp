// The sandbox's way to the proxy: a port on its loopback whose every connection goes on to one Unix socket.
#pragma once

#include <string>

namespace praxis::supervisor {

/// Listens on 127.0.0.1 and forwards from a process of its own, which is no child of this one and ends with
/// the sandbox. False, with errno, on failure.
bool start_forwarder(const std::string& proxy);

}  // namespace praxis::supervisor
