#include "server/stored_responses.hpp"

#include <algorithm>
#include <utility>

#include "app/tools_of_client.hpp"
#include "server/external_calls.hpp"
#include "server/handlers.hpp"
#include "server/responses_request.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kItemsShown = 20, kMostItemsShown = 100;

/// When the step was decided; nothing if it is not.
std::optional<UnixMillis> decided_at(const std::vector<StoredRecord>& records, const ParkId& step) {
  for (const StoredRecord& stored : records) {
    const auto* decided = std::get_if<records::Decided>(&stored.record.body);
    if (decided != nullptr && decided->park == step) return stored.record.time;
  }
  return std::nullopt;
}

std::optional<UnixMillis> decided_below(Service& service, const ResponseId& id) {
  const auto below = service.runs->stored(id.decided_in);
  return below ? decided_at(below->records, id.decided) : std::nullopt;
}

/// Whether the step was a call of a tool that the client runs.
bool is_external(const app::StoredSession& stored, const ParkId& step) {
  const auto names = app::external_tools_of(*stored.state.agent);
  return std::ranges::any_of(stored.records, [&](const StoredRecord& each) {
    const auto* parked = std::get_if<records::Parked>(&each.record.body);
    return parked != nullptr && parked->step.id == step && names.contains(parked->step.tool);
  });
}

/// A decision as the item of a request.
JsonObject decided_item(const FoundResponse& found, const records::Decided& decided) {
  const SessionId& run = found.id.run;
  const std::string id = ResponseId{run, found.id.turn, run, decided.park}.text().substr(5);
  if (decided.verb == ApprovalVerb::kAnswer && is_external(*found.stored, decided.park)) {
    return JsonObject{{"type", "function_call_output"},
                      {"id", "fco_" + id},
                      {"call_id", ExternalCallId{run, decided.park}.text()},
                      {"status", "completed"},
                      {"output", decided.text}};
  }
  return JsonObject{{"type", "mcp_approval_response"},
                    {"id", "mcpa_" + id},
                    {"approval_request_id", ApprovalRequestId{run, run, decided.park}.text()},
                    {"approve", decided.verb != ApprovalVerb::kReject},
                    {"reason", decided.text}};
}

/// The decisions of the run itself from that with which the response begins to that with which it ends.
JsonArray decided_items(const FoundResponse& found) {
  JsonArray items;
  if (found.id.decided_in != found.id.run) return items;
  ResponseCodec codec(found.id);
  std::string ignored;
  const ParkId end = replayed(codec, found, ignored).ended_by();
  bool is_in = false;
  for (const StoredRecord& stored : found.stored->records) {
    const auto* decided = std::get_if<records::Decided>(&stored.record.body);
    if (decided == nullptr || decided->park.empty()) continue;
    if (is_in && decided->park == end) break;
    is_in = is_in || decided->park == found.id.decided;
    if (is_in) items.emplace_back(decided_item(found, *decided));
  }
  return items;
}

}  // namespace

bool has_turn(const State& state, const TurnId& turn) {
  if (state.turn && state.turn->id == turn) return true;
  return std::ranges::any_of(state.marks, [&](const TurnMark& mark) { return mark.turn == turn; });
}

bool is_last_turn(const State& state, const TurnId& turn) {
  return !state.marks.empty() && state.marks.back().turn == turn;
}

ResponseCodec& replayed(ResponseCodec& codec, const FoundResponse& found, std::string& out) {
  if (found.begins_at) codec.begin_at(*found.begins_at);
  replay_into(found.stored->records, 0, 0, codec, out);
  return codec;
}

Result<FoundResponse> find_response(Service& service, const std::string& text, const Principal& principal) {
  const Error missing = not_found("response", text);
  const auto id = ResponseId::parse(text);
  if (!id || service.runs->lineages().root_of(id->run) != id->run ||
      !service.runs->may_see(principal, id->run))
    return fail(missing);
  auto stored = service.runs->stored(id->run);
  if (!stored || !has_turn(stored->state, id->turn)) return fail(missing);
  FoundResponse found{*id, std::make_shared<const app::StoredSession>(*std::move(stored)), std::nullopt};
  if (!id->decided.empty()) {
    const bool is_own = id->decided_in == id->run;
    if (!service.runs->lineages().is_within(id->decided_in, id->run)) return fail(missing);
    const auto time = is_own ? decided_at(found.stored->records, id->decided) : decided_below(service, *id);
    if (!time) return fail(missing);
    if (!is_own) found.begins_at = time;
  }
  ResponseCodec codec(*id);
  std::string ignored;
  if (!json_bool(replayed(codec, found, ignored).request(), "store", true)) return fail(missing);
  return found;
}

Result<JsonObject> response_json(const FoundResponse& found, ParkId* ended_by) {
  ResponseCodec codec(found.id);
  std::string ignored;
  if (found.begins_at) codec.begin_at(*found.begins_at);
  if (!replay_into(found.stored->records, 0, 0, codec, ignored)) {
    const auto pending = waiting_steps(*found.stored);
    if (!pending) return fail(pending.error());
    if (!pending->empty()) codec.take_wait(*pending, ignored);
  }
  if (ended_by != nullptr) *ended_by = codec.ended_by();
  return codec.response();
}

JsonArray input_items(const FoundResponse& found) {
  const ResponseId& id = found.id;
  if (!id.decided.empty()) return decided_items(found);
  JsonArray items;
  TurnId turn;
  for (const StoredRecord& stored : found.stored->records) {
    const RecordBody& body = stored.record.body;
    if (const auto* started = std::get_if<records::TurnStarted>(&body)) turn = started->turn;
    const auto* said = std::get_if<records::MessageAppended>(&body);
    if (said == nullptr) continue;
    const bool is_before = said->source == MessageSource::kImport && id.turn == TurnId("t1") && turn.empty();
    const bool is_prompt = said->source == MessageSource::kUser && turn == id.turn;
    if ((!is_before && !is_prompt) || json_bool(said->message->metadata, kInstructionsKey) ||
        json_bool(said->message->metadata, kFromConversationKey))
      continue;
    for (Json& item :
         input_items_of(*said->message, "msg_" + id.text().substr(5) + "~in" + std::to_string(stored.seq)))
      items.push_back(std::move(item));
  }
  return items;
}

// ---- pages

Result<ItemPage> item_page_of(const Call& call) {
  const auto limit = call.number("limit", kItemsShown, kMostItemsShown);
  if (!limit) return fail(limit.error());
  const std::string order = call.parameter("order");
  if (!order.empty() && order != "asc" && order != "desc")
    return fail(field_error("order", "must be asc or desc"));
  return ItemPage{*limit, order == "asc", call.parameter("after")};
}

Result<HttpAnswer> page_of_items(const ItemPage& page, JsonArray items) {
  if (!page.ascends) std::ranges::reverse(items);
  if (!page.after.empty()) {
    const auto at =
        std::ranges::find_if(items, [&](const Json& item) { return json_text(item, "id") == page.after; });
    if (at == items.end()) return fail(field_error("after", "names no item"));
    items.erase(items.begin(), at + 1);
  }
  const bool has_more = items.size() > page.limit;
  if (has_more) items.resize(page.limit);
  return item_list(std::move(items), has_more);
}

HttpAnswer item_list(JsonArray items, bool has_more) {
  const auto id_at = [&](std::size_t i) { return items.empty() ? Json(nullptr) : json_at(items[i], "id"); };
  const Json first = id_at(0), last = id_at(items.empty() ? 0 : items.size() - 1);
  return json_answer(JsonObject{{"object", "list"},
                                {"data", std::move(items)},
                                {"first_id", first},
                                {"last_id", last},
                                {"has_more", has_more}});
}

}  // namespace praxis::server
