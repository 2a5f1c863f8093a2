// Carries bytes between a client and a server, both non-blocking sockets, until both have had enough.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "net/egress_proxy_message.hpp"
#include "net/egress_proxy_wait.hpp"

namespace praxis {

struct RelayEnds {
  int client = -1;
  int server = -1;
};

struct RelayLimits {
  int stop = -1;                          ///< see `Patience`
  std::chrono::milliseconds idle_time{};  ///< without a byte in either direction
  /// Read from both sides together; nothing of what comes beyond it is passed on.
  std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
};

/// Sends each side what is already there for it, then carries bytes both ways. When one side ends its stream
/// the other is told, and may go on sending until it ends too.
void relay_tunnel(RelayEnds ends, std::string for_client, std::string for_server, const RelayLimits& limits);

/// Sends the server what is already there and `body_left` bytes more from the client, and the client the
/// `answer` until the server ends it. `kReady` when it came to an end, or when a limit of bytes or a break
/// of the protocol put one to it; look at `answer.begun()`.
Wake relay_exchange(RelayEnds ends, std::string for_server, std::uint64_t body_left, EgressAnswer& answer,
                    const RelayLimits& limits);

}  // namespace praxis
