// Relays bytes between a client and a server, both non-blocking sockets, until both have ended.
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
  /// Read from both sides together; bytes beyond the limit are not forwarded.
  std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
};

/// Sends each side the bytes already received for it, then relays both directions. When one side ends its
/// stream, the other side's stream is ended too, and it may continue to send until it ends.
void relay_tunnel(RelayEnds ends, std::string for_client, std::string for_server, const RelayLimits& limits);

/// Sends the server the bytes already received and `body_left` bytes more from the client, and sends the
/// client the `answer` until the server ends it. Returns `kReady` when the response ended, or when a byte
/// limit or a protocol violation ended it; check `answer.begun()`.
Wake relay_exchange(RelayEnds ends, std::string for_server, std::uint64_t body_left, EgressAnswer& answer,
                    const RelayLimits& limits);

}  // namespace praxis
