#include "wire/rebuilding.hpp"

#include <algorithm>

#include "models/request_writer.hpp"
#include "wire/meaning.hpp"
#include "wire/recorded_request.hpp"

namespace praxis::wire {
namespace {

/// One exchange and our reading of it.
struct Seen {
  const Exchange* exchange = nullptr;
  RecordedEndpoint endpoint;
  Reading reading;
  RecordedConversation conversation;

  std::size_t turns() const {
    return static_cast<std::size_t>(
        std::ranges::count(conversation.messages, Role::kAssistant, &Message::role));
  }
};

std::string first_words(const RecordedConversation& conversation) {
  const auto user = std::ranges::find(conversation.messages, Role::kUser, &Message::role);
  return user == conversation.messages.end() ? std::string() : user->text();
}

std::vector<std::string> call_ids(const std::vector<Part>& parts) {
  std::vector<std::string> ids;
  for (const Part& part : parts) {
    if (const auto* call = std::get_if<ToolCallPart>(&part)) ids.push_back(call->id.value);
  }
  return ids;
}

/// Replaces the client's version of an answer by our reading of it; results follow the ids of the calls.
void replace_turn(std::vector<Message>& messages, std::size_t turn, const ModelResponse& answer) {
  auto message = messages.begin();
  for (std::size_t seen = 0; message != messages.end(); ++message) {
    if (message->role == Role::kAssistant && seen++ == turn) break;
  }
  if (message == messages.end()) return;
  const auto old_ids = call_ids(message->parts), new_ids = call_ids(answer.parts);
  message->parts = answer.parts;
  if (++message == messages.end() || message->role != Role::kTool) return;
  for (Part& part : message->parts) {
    auto* result = std::get_if<ToolResultPart>(&part);
    const auto old = result == nullptr ? old_ids.end() : std::ranges::find(old_ids, result->id.value);
    const auto at = static_cast<std::size_t>(old - old_ids.begin());
    if (at < new_ids.size() && old != old_ids.end()) result->id = CallId(new_ids[at]);
  }
}

/// Returns the request as we write it; null if the codec cannot.
Json write_request(const Seen& seen, const RecordedConversation& conversation, JsonArray& repairs) {
  ModelRequest request;
  request.instructions = conversation.instructions;
  request.tools = std::make_shared<const std::vector<ToolDefinition>>(conversation.tools);
  request.stream = seen.exchange->response.is_stream();
  Normalised normal = normalise(conversation.messages);
  for (const Repair& repair : normal.repairs)
    repairs.emplace_back("history: " + std::string(to_string(repair.kind)));
  request.history = std::move(normal.history);
  RequestWriter writer(seen.endpoint.codec);
  auto body = parse_json(*writer.write(request));
  return body ? *std::move(body) : Json();
}

void add_comparison(JsonObject& line, const Seen& seen, const std::vector<Seen>& before) {
  const Json& recorded = seen.exchange->request.body;
  line["rebuilt"] = nullptr;
  if (!recorded.is_object()) {
    line["note"] = "no request was recorded";
    return;
  }
  if (!json_at(recorded, "previous_response_id").is_null()) {
    line["note"] = "the request continues from state kept by the server";
    return;
  }
  RecordedConversation conversation = seen.conversation;
  for (const Seen& earlier : before) {
    const bool same = earlier.endpoint.api == seen.endpoint.api && !earlier.reading.error &&
                      first_words(earlier.conversation) == first_words(conversation);
    if (same) replace_turn(conversation.messages, earlier.turns(), earlier.reading.answer);
  }
  JsonArray notes;
  for (const std::string& kind : conversation.unread)
    notes.emplace_back("not read from the recording: " + kind);
  Json rebuilt = write_request(seen, conversation, notes);
  const Comparison compared = compare_requests(seen.endpoint.api, rebuilt, recorded);
  line["rebuilt"] = std::move(rebuilt);
  line["recorded"] = recorded;
  line["differences"] = JsonArray(compared.differences.begin(), compared.differences.end());
  line["additions"] = JsonArray(compared.additions.begin(), compared.additions.end());
  if (!notes.empty()) line["note"] = std::move(notes);
}

}  // namespace

std::vector<Json> lines_of(const Case& recorded, const std::string& name, const Catalog& catalog,
                           bool all_requests) {
  std::vector<Seen> before;
  std::vector<Json> lines;
  for (const Exchange& exchange : recorded.exchanges) {
    JsonObject line{{"case", name}};
    auto endpoint = recognise(exchange, recorded.provider_folder(), catalog);
    if (!endpoint) {
      line["i"] = exchange.i;
      line["note"] = endpoint.error().message;
      lines.emplace_back(std::move(line));
      continue;
    }
    Seen seen{.exchange = &exchange, .endpoint = *std::move(endpoint), .reading = {}, .conversation = {}};
    seen.reading = read_response(*seen.endpoint.codec, exchange.response);
    if (exchange.request.body.is_object())
      seen.conversation = read_request(seen.endpoint, exchange.request.body);
    Json read = line_of(seen.reading, seen.endpoint, exchange);
    for (auto& [field, value] : read.get_object()) line[field] = std::move(value);
    if (all_requests || !before.empty()) add_comparison(line, seen, before);
    lines.emplace_back(std::move(line));
    before.push_back(std::move(seen));
  }
  return lines;
}

}  // namespace praxis::wire
