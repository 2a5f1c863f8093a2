#include "server/conversation_view.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "app/shown_run.hpp"
#include "server/problem.hpp"
#include "server/responses_request.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kMostAdded = 20;  // items in a request, as OpenAI's API has it

/// The logs of the runs of a conversation, each read once.
class RunLogs {
 public:
  RunLogs(Service& service, ViewFor reader) : service_(service), reader_(reader) {}

  std::shared_ptr<const app::StoredSession> of(const SessionId& run) {
    const auto known = logs_.find(run);
    if (known != logs_.end()) return known->second;
    std::shared_ptr<const app::StoredSession> log;
    if (service_.runs->lineages().root_of(run) == run) {
      auto stored = service_.runs->stored(run);
      if (stored && reader_ == ViewFor::kClient)
        stored = app::shown_run(*std::move(stored), service_.redactions);
      if (stored) log = std::make_shared<const app::StoredSession>(*std::move(stored));
    }
    return logs_[run] = log;
  }

 private:
  Service& service_;
  const ViewFor reader_;
  std::map<SessionId, std::shared_ptr<const app::StoredSession>> logs_;
};

/// The response that a fact names, if its turn exists and was begun for this conversation.
std::optional<FoundResponse> response_of(RunLogs& logs, const ResponseBegun& begun,
                                         const StoredConversation& conversation) {
  FoundResponse found{begun.response, logs.of(begun.response.run)};
  if (found.stored == nullptr || !has_turn(found.stored->state, found.id.turn)) return std::nullopt;
  ResponseCodec codec(found.id);
  std::string ignored;
  const Json& of = json_at(replayed(codec, found, ignored).request(), "conversation");
  if (json_text(of, "id") != conversation.id.text()) return std::nullopt;
  return found;
}

/// The items of a turn: of its response, and of those that follow decisions on its steps.
Status add_turn(FoundResponse part, JsonArray& items) {
  while (true) {
    for (Json& item : input_items(part)) items.push_back(std::move(item));
    ParkId ended_by;
    auto response = response_json(part, &ended_by);
    if (!response) return fail(response.error());
    for (const Json& item : response->at("output").as_array()) {
      if (json_text(item, "status") != "in_progress") items.push_back(item);
    }
    if (ended_by.empty() || ended_by == part.id.decided) return {};
    part.id.decided_in = part.id.run;
    part.id.decided = ended_by;
  }
}

/// What decides whether the run of the last response has the conversation and nothing else.
struct Held {
  std::map<SessionId, std::pair<std::int64_t, std::int64_t>> begun;  ///< of runs: responses then and now
  bool is_changed = false;                                           ///< since the last response

  bool by(const SessionId& run) const {
    const auto found = begun.find(run);
    return !is_changed && found != begun.end() && found->second.first == found->second.second;
  }
};

/// The beginning of the ids of an item of this type.
std::string prefix_of(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 7> kPrefixes{
      {{"message", "msg_"},
       {"reasoning", "rs_"},
       {"function_call", "fc_"},
       {"function_call_output", "fco_"},
       {"mcp_call", "mcp_"},
       {"mcp_approval_request", "mcpr_"},
       {"mcp_approval_response", "mcpa_"}}};
  const auto* const found = std::ranges::find(kPrefixes, type, [](const auto& each) { return each.first; });
  return found == kPrefixes.end() ? "item_" : found->second;
}

JsonObject shown(JsonObject item, const std::string& id) {
  const std::string type = json_string(Json(item), "type", "message");
  item.insert_or_assign("type", type);
  item.insert_or_assign("id", prefix_of(type) + id);
  if (type == "message" || type.starts_with("function_call")) item.insert_or_assign("status", "completed");
  if (type != "message") return item;
  if (Json& content = item["content"]; content.is_string()) {
    const bool is_own = item["role"] == Json("assistant");
    JsonObject part{{"type", is_own ? "output_text" : "input_text"}, {"text", content}};
    if (is_own) part["annotations"] = JsonArray{};
    item.insert_or_assign("content", JsonArray{std::move(part)});
  }
  return item;
}

}  // namespace

Result<ConversationView> view_of(Service& service, const StoredConversation& conversation, ViewFor reader) {
  RunLogs logs(service, reader);
  ConversationView view;
  std::set<std::string, std::less<>> removed;
  Held held;
  for (const ConversationFact& fact : conversation.facts) {
    if (const auto* gone = std::get_if<ItemRemoved>(&fact)) removed.insert(gone->id);
    const auto* added = std::get_if<ItemsAdded>(&fact);
    if (added != nullptr) view.items.insert(view.items.end(), added->items.begin(), added->items.end());
    const auto* begun = std::get_if<ResponseBegun>(&fact);
    if (begun == nullptr) {
      held.is_changed = true;
      continue;
    }
    auto found = response_of(logs, *begun, conversation);
    if (!found) continue;
    held.begun.try_emplace(found->id.run, begun->holds, view.responses);
    held.is_changed = false;
    ++view.responses;
    if (auto read = add_turn(*found, view.items); !read) return fail(read.error());
    view.last = std::move(found);
  }
  const auto left = std::ranges::remove_if(
      view.items, [&](const Json& item) { return removed.contains(json_text(item, "id")); });
  // Without the test, Boost would write to what all empty arrays of the process share.
  if (!left.empty()) view.items.erase(left.begin(), left.end());
  view.last_holds_all = view.last && held.by(view.last->id.run);
  return view;
}

Result<JsonArray> read_new_items(const Json& items, Environment& environment) {
  const auto* given = items.if_array();
  if (given == nullptr || given->size() > kMostAdded)
    return fail(field_error("items", "must be a list of at most " + std::to_string(kMostAdded) + " items"));
  if (auto messages = messages_of(*given, "items"); !messages) return fail(messages.error());
  JsonArray all;
  for (const Json& item : *given) all.push_back(shown(item.get_object(), environment.new_id()));
  return all;
}

}  // namespace praxis::server
