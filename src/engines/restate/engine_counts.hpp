// Numbers of a process whose running turns are at Restate.
#pragma once

#include <atomic>
#include <cstdint>

namespace praxis::restate {

/// Since the process began. For `/metrics`. Thread-safe.
struct EngineCounts {
  using Count = std::atomic<std::uint64_t>;

  Count begun = 0;            ///< invocations whose first request came here
  Count ended = 0;            ///< invocations
  Count suspended = 0;        ///< waits for a person, an effect or a moment that hold no connection
  Count held_back = 0;        ///< answers that the guard did not let out
  Count wrong_tokens = 0;     ///< requests
  Count unknown_senders = 0;  ///< requests without a signature of a known key
  Count log_bytes = 0;        ///< of records that the engine took from this process
  Count largest_log = 0;      ///< bytes; of one invocation, in one request
};

}  // namespace praxis::restate
