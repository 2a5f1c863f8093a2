// Messages that the model has not got: withdrawing them and changing their order. Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/core/state.hpp"

namespace praxis {

/// What waits in a session, as far as commands change it.
struct Waiting {
  explicit Waiting(const State& state)
      : steering(state.steering), queue(state.queue), delivered(state.delivered) {}
  std::vector<WaitingMessage> steering, queue;
  std::vector<std::uint64_t> delivered;
};

/// Carries out `kWithdraw` or `kMove` on the two lists; `text` is that of the command. Error `kInput`, with
/// nothing changed: a message does not wait, or cannot be withdrawn or moved there. `delivered`: see `State`.
/// Logs are read with it, so it must never refuse more.
Status change_waiting(std::vector<WaitingMessage>& steering, std::vector<WaitingMessage>& queue,
                      const std::vector<std::uint64_t>& delivered, CommandVerb verb, std::string_view text);
inline Status change_waiting(Waiting& waiting, CommandVerb verb, std::string_view text) {
  return change_waiting(waiting.steering, waiting.queue, waiting.delivered, verb, text);
}

/// Removes the first message of a list, which the model gets now.
void take_first(State& state, std::vector<WaitingMessage>& list);

}  // namespace praxis
