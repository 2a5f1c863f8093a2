// The message that began a turn, for a branch that asks something else in its place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "praxis/domain/message.hpp"
#include "praxis/logs/logs.hpp"

namespace praxis::app {

/// A message of the user, in two pieces: the text, which can be edited, and the rest.
struct TurnMessage {
  std::uint64_t before = 0;  ///< number of the last record before its turn
  std::string text;          ///< the prompt as the caller sent it, before hooks changed it
  std::vector<Part> rest;    ///< what was attached
};

/// The message that began the last turn that the records up to `seq` (all if 0) reach. Error `kInput`: there
/// is no turn, or it began with a message from the queue, which every branch before it would still hold.
Result<TurnMessage> turn_message_at(const std::vector<StoredRecord>& records, std::uint64_t seq);

}  // namespace praxis::app
