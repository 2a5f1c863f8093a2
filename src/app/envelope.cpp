#include "app/envelope.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace praxis::app {
namespace {

/// Replaces the arguments of calls, in the members that can hold calls, by objects.
void open_arguments(Json& json) {
  if (JsonArray* items = json.if_array()) {
    for (Json& item : *items) open_arguments(item);
  }
  JsonObject* members = json.if_object();
  if (members == nullptr) return;
  if (Json* arguments = members->if_contains("arguments"); arguments != nullptr && arguments->is_string())
    *arguments = program_arguments(arguments->get_string());
  for (const char* holder :
       {"message", "original", "response", "content", "parked", "pending", "result", "actions"}) {
    if (Json* inner = members->if_contains(holder)) open_arguments(*inner);
  }
}

/// `result` is that of an event that ends a turn. What models answered is in `assistant.text`; the answer of
/// a written plan is only here.
void drop_repeated_answer(JsonObject& result) {
  const std::string_view said = result.at("full_text").get_string(),
                         answer = result.at("result").get_string();
  if (!said.empty() && said.ends_with(answer)) result.stable_erase("result");
  result.stable_erase("full_text");
  result.stable_erase("structured");
}

}  // namespace

Json program_arguments(std::string_view arguments) {
  auto parsed = parse_json(arguments);
  return parsed && parsed->is_object() ? *std::move(parsed) : Json(arguments);
}

Json cost_or_null(const Usage& usage) {
  const bool is_known = usage.cost.value != 0 || usage.total() == 0;
  return is_known ? Json(usage.cost.usd()) : Json(nullptr);
}

Json envelope(std::string_view command, int exit_status, const JsonObject& fields, const Error* error) {
  JsonObject line{{"event", "result"},
                  {"schema_version", 1},
                  {"command", command.empty() ? Json(nullptr) : Json(command)},
                  {"success", exit_status == 0},
                  {"exit_status", exit_status}};
  for (const auto& [key, value] : fields) line.emplace(key, value);  // does not replace what is there
  Json& errors = line["errors"];
  if (!errors.is_array()) errors = JsonArray{};
  if (error != nullptr && errors.get_array().empty()) errors.get_array().push_back(to_json(*error));
  return line;
}

JsonObject run_fields(const AgentResult& result) {
  Json fields = to_json(result);
  open_arguments(fields);
  if (result.full_text == result.text) fields.get_object()["full_text"] = nullptr;
  return std::move(fields.get_object());
}

JsonObject run_fields(const Error& error, const SessionId& session) {
  AgentResult result;
  result.session = session;
  result.status = SessionStatus::kError;
  result.error = error;
  JsonObject fields = run_fields(result);
  for (const char* key : {"id", "agent", "model", "started_at"}) fields[key] = nullptr;
  if (session.empty()) fields["run_id"] = nullptr;
  return fields;
}

JsonObject program_json(const Event& event) {
  Json json = to_json(event);
  // The pieces of a call that is being written are no arguments yet.
  if (!is_delta(event.body)) open_arguments(json);
  JsonObject& members = json.get_object();
  // `assistant.text` and `tool.called` have what the message holds.
  if (std::holds_alternative<events::ModelResponded>(event.body)) members.stable_erase("message");
  if (Json* result = members.if_contains("result"); result != nullptr && result->is_object())
    drop_repeated_answer(result->get_object());
  return std::move(members);
}

JsonObject program_json(const ParkedStep& step) {
  Json json = to_json(step);
  open_arguments(json);
  return std::move(json.get_object());
}

JsonObject program_json(const AgentNode& node) {
  Json json = to_json(node);
  open_arguments(json);
  json.get_object()["cost_usd"] = cost_or_null(node.subtree);
  return std::move(json.get_object());
}

JsonObject program_json(const StoredRecord& stored) {
  std::vector<RecordBlob> blobs;
  auto body = parse_json(encode_record(stored.record.body, blobs)).value_or(nullptr);
  open_arguments(body);
  if (JsonObject* members = body.if_object()) {
    if (Json* seed = members->if_contains("seed")) *seed = to_json_text(*seed);
  }
  return JsonObject{{"seq", stored.seq},
                    {"time", to_iso8601(stored.record.time)},
                    {"kind", kind_name(stored.record.body)},
                    {"body", std::move(body)}};
}

}  // namespace praxis::app
