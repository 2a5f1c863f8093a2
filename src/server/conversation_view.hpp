// The items of a conversation: those that its client added, and those of its responses.
#pragma once

#include <cstdint>
#include <optional>

#include "praxis/base/environment.hpp"
#include "server/conversations.hpp"
#include "server/stored_responses.hpp"

namespace praxis::server {

/// What a conversation is at present.
struct ConversationView {
  JsonArray items;                    ///< in its order, without those that were removed
  std::int64_t responses = 0;         ///< that exist
  std::optional<FoundResponse> last;  ///< the last of them, from the beginning of its turn
  /// The run of the last response has the items of the conversation and no others, so that it can continue.
  bool last_holds_all = false;
};
/// A client is shown what the filters at `shown` leave; a further turn continues with what was said.
enum class ViewFor : std::uint8_t { kClient, kTurn };
/// Reads the logs of the responses. Error `kJournal`.
Result<ConversationView> view_of(Service& service, const StoredConversation& conversation, ViewFor reader);

/// The items of a request that adds some, as the conversation shows them, with new ids. Error `kInput` names
/// the item that is wrong.
Result<JsonArray> read_new_items(const Json& items, Environment& environment);

}  // namespace praxis::server
