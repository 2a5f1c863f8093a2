// OpenAI's Responses as the journal has them: which part of which log each one is, and the items of its
// request and answer.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "app/workspace.hpp"
#include "server/responses_codec.hpp"
#include "server/service.hpp"

namespace praxis::server {

/// The key in the metadata of a message that holds the instructions of a request.
inline constexpr const char* kInstructionsKey = "responses_instructions";
/// The key in the metadata of a message that a run has got from a conversation: it is no item of the request.
inline constexpr const char* kFromConversationKey = "conversation_item";

/// A response that exists, and its run.
struct FoundResponse {
  ResponseId id;
  std::shared_ptr<const app::StoredSession> stored;
  std::optional<UnixMillis> begins_at = {};  ///< when a step of a session below was decided
};

/// Finds a response for a principal. Error `kNotFound`: it is unknown, was not to be stored, or belongs to a
/// run that the principal may not see.
Result<FoundResponse> find_response(Service& service, const std::string& text, const Principal& principal);
/// Whether a session has a turn that was not taken back.
bool has_turn(const State& state, const TurnId& turn);
/// Whether the turn has ended, and no other has begun after it.
bool is_last_turn(const State& state, const TurnId& turn);

/// Gives the codec of a response the whole log of its run.
ResponseCodec& replayed(ResponseCodec& codec, const FoundResponse& found, std::string& out);
/// The response at present; with `ended_by`, the decision that ended it, empty if none did. Error `kJournal`.
Result<JsonObject> response_json(const FoundResponse& found, ParkId* ended_by = nullptr);
/// What the request of a response gave to the conversation: of the first turn of a run the messages before it
/// too, unless they come from a conversation.
JsonArray input_items(const FoundResponse& found);

/// A page of a list of items, as the query asks for it.
struct ItemPage {
  std::size_t limit = 0;
  bool ascends = false;
  std::string after;  ///< id of the last item of the page before; empty: the first page
};
/// Error `kInput` names the parameter.
Result<ItemPage> item_page_of(const Call& call);
/// The page of items that are in the order of the conversation. Error `kInput`: `after` names none of them.
Result<HttpAnswer> page_of_items(const ItemPage& page, JsonArray items);
/// `{object: "list", data, first_id, last_id, has_more}`.
HttpAnswer item_list(JsonArray items, bool has_more);

}  // namespace praxis::server
