// Where the server may send the changes of tasks (A2A), and how.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace praxis::server {

struct PushRules {
  /// The only hosts that get any, as `HostRules` reads them; empty: the server sends nothing.
  std::vector<std::string> hosts = {};
  std::chrono::milliseconds answer{15'000};         ///< how long a receiver may take
  std::chrono::milliseconds first_pause{500};       ///< after the first failure; each further one doubles it
  std::chrono::milliseconds longest_pause{60'000};  ///< to which the pauses grow
  std::size_t attempts = 20;                        ///< for one notification; then its address is given up
  std::size_t most_waiting = 64;                    ///< notifications of one address; then they become one
  std::chrono::milliseconds between_looks{100};     ///< at the log of a task
};

}  // namespace praxis::server
