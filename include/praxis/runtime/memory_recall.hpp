// Automatic recall: gives the model the notes that match a user message, together with the message.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "praxis/domain/message.hpp"
#include "praxis/memory/database_client.hpp"
#include "praxis/runtime/hooks.hpp"

#pragma GCC visibility push(default)
namespace praxis {

struct MemoryRecallOptions {
  std::vector<std::string> collections = {"notes"};  ///< in which it searches
  std::size_t max_notes = 5;
  std::size_t max_bytes = 4096;  ///< of the whole block; a note that does not fit is left out
};

/// A hook for `Agent::on_outgoing_message`. Appends a part to a user message: the notes that share a word
/// with it, each with its key and date, between `<recalled>` and `</recalled>`, marked as data. Words of one
/// or two letters and English function words such as "the" do not count. Adds nothing if no note matches. The
/// message with the block is recorded, with the user's own as the original: a replay and a fork see the same
/// notes, and the requests before it stay a prefix of those after it. If the memory fails, the hook throws:
/// the message is sent without notes, and observers get `hook.failed`.
std::function<void(const HookContext&, Message&)> memory_recall_hook(std::shared_ptr<DatabaseClient> memory,
                                                                     MemoryRecallOptions options = {});

}  // namespace praxis
#pragma GCC visibility pop
