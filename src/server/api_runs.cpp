// One run: create, read, continue, take back.
#include <algorithm>
#include <utility>
#include <vector>

#include "app/context_report.hpp"
#include "app/envelope.hpp"
#include "app/pending_steps.hpp"
#include "app/reopen_run.hpp"
#include "app/run_nodes.hpp"
#include "app/shown_run.hpp"
#include "app/transcript.hpp"
#include "app/transcript_page.hpp"
#include "logs/check_export.hpp"
#include "logs/read_part.hpp"
#include "logs/turn_schema.hpp"
#include "policy/event_texts.hpp"
#include "praxis/json/schema.hpp"
#include "server/handlers.hpp"
#include "server/input_parts.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kMostPrompt = 8 * 1024 * 1024;
constexpr std::size_t kMostKey = 255;
constexpr std::size_t kMostAttachments = 20;
constexpr std::size_t kMostListed = 200;
constexpr std::size_t kMessagesRead = 1000, kMostMessagesRead = 5000;

Result<std::string> prompt_of(const JsonObject& body) {
  auto prompt = text_of(body, "prompt");
  if (!prompt) return prompt;
  if (prompt->empty()) return fail(field_error("prompt", "is missing: what is the agent to do?"));
  if (prompt->size() > kMostPrompt) return fail(field_error("prompt", "is longer than 8 MiB"));
  return prompt;
}

/// One of the attachments. Error `kInput`.
Result<Part> attached(const Json& given) {
  const JsonObject* const object = given.if_object();
  const auto is_known = [](const auto& member) {
    return (member.key() == "url" || member.key() == "name") && member.value().is_string();
  };
  if (object == nullptr || !std::ranges::all_of(*object, is_known))
    return fail(field_error("attachments", "must be a list of objects with the strings url and name"));
  return media_part(json_string(given, "url"), json_string(given, "name"), "attachments");
}

/// The parts of a message with attachments: those, then the prompt. Nothing if there are no attachments.
Result<std::vector<Part>> content_of(const JsonObject& body, const std::string& prompt) {
  std::vector<Part> parts;
  const Json* const given = body.if_contains("attachments");
  if (given == nullptr || given->is_null()) return parts;
  const JsonArray* const list = given->if_array();
  if (list == nullptr || list->size() > kMostAttachments)
    return fail(field_error("attachments", "must be a list of at most " + std::to_string(kMostAttachments) +
                                               " objects with url and name"));
  for (const Json& each : *list) {
    auto part = attached(each);
    if (!part) return fail(part.error());
    parts.push_back(*std::move(part));
  }
  if (!parts.empty()) parts.emplace_back(TextPart{prompt});
  return parts;
}

Result<Json> schema_of_body(const JsonObject& body) {
  const Json* schema = body.if_contains("schema");
  if (schema == nullptr || schema->is_null()) return Json(nullptr);
  if (auto compiled = JsonSchema::compile(*schema); !compiled)
    return fail(field_error("schema", "is no JSON Schema: " + compiled.error().message));
  return *schema;
}

Result<Json> limits_of_body(const JsonObject& body) {
  const Json* limits = body.if_contains("limits");
  if (limits == nullptr || limits->is_null()) return Json(nullptr);
  Limits checked;
  if (!limits->is_object()) return fail(field_error("limits", "must be an object"));
  if (auto read = read_limits(*limits, checked); !read)
    return fail(Error(read.error()).set("field", "limits"));
  return *limits;
}

Result<app::StoredSession> stored_of(Service& service, const Call& call) {
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  return service.runs->stored(*id);
}

/// A run as `GET` shows it: what the envelope of `praxis run --json` has. The tree is read before the log, so
/// that a run that is shown as ended has its result. Only the last entries of long lists, unless `is_whole`.
Result<JsonObject> run_json(Service& service, const SessionId& run, bool is_whole) {
  const auto last = service.journal->last_position();
  if (!last) return fail(last.error());
  const auto nodes = service.trees->of(run);
  if (!nodes) return fail(nodes.error());
  const auto folded = service.folds->last(run);
  if (!folded) return fail(folded.error());
  const State& state = **folded;
  AgentResult result = result_of(state);
  redact_result(result, service.redactions.filters_of_shown(*state.agent));
  JsonObject json = app::run_fields(result);
  if (!nodes->empty()) {
    if (state.turn) json["status"] = to_string(nodes->front().status);
    json["held"] = nodes->front().held;
  }
  JsonArray steps;
  for (const ParkedStep& step : app::pending_steps(state, *nodes)) steps.push_back(app::program_json(step));
  json["pending"] = std::move(steps);
  if (!is_whole) shorten_lists(json);
  if (service.runs->is_queued(run)) json["status"] = kQueuedStatus;
  json["records"] = state.seq;
  json["resumable"] = state.turn.has_value() || !state.queue.empty();
  json["last_event_id"] = Position{*last, UINT32_MAX}.text();
  return json;
}

}  // namespace

void shorten_lists(JsonObject& json) {
  JsonObject left_out;
  for (const char* name : {"actions", "model_calls", "memory_deltas", "denials"}) {
    JsonArray* list = json.contains(name) ? json.at(name).if_array() : nullptr;
    if (list == nullptr || list->size() <= kMostListed) continue;
    const std::size_t first = list->size() - kMostListed;
    left_out[name] = first;
    list->erase(list->begin(), list->begin() + static_cast<std::ptrdiff_t>(first));
  }
  if (!left_out.empty()) json["left_out"] = std::move(left_out);
}

HttpAnswer created(const SessionId& run, bool is_new) {
  HttpAnswer answer = json_answer(JsonObject{{"id", run.str()}, {"created", is_new}}, is_new ? 201 : 200);
  answer.headers.emplace_back("Location", "/api/v1/runs/" + run.str());
  return answer;
}

Status create_run(Service& service, const Call& call) {
  auto body = call.object({"agent", "prompt", "model", "limits", "schema", "attachments"});
  if (!body) return fail(body.error());
  auto agent = text_of(*body, "agent"), model = text_of(*body, "model"), prompt = prompt_of(*body);
  auto schema = schema_of_body(*body), limits = limits_of_body(*body);
  for (const Result<std::string>* text : {&agent, &model, &prompt}) {
    if (!*text) return fail(text->error());
  }
  for (const Result<Json>* value : {&schema, &limits}) {
    if (!*value) return fail(value->error());
  }
  auto content = content_of(*body, *prompt);
  if (!content) return fail(content.error());
  const std::string key(find_header(call.headers, "idempotency-key").value_or(""));
  if (key.size() > kMostKey) return fail(field_error("Idempotency-Key", "is longer than 255 characters"));
  NewRun run{.agent = *agent, .prompt = *prompt, .model = *model, .limits = *limits, .schema = *schema};
  run.content = *std::move(content);
  run.idempotency = key;
  run.request = to_canonical_json(*body);
  service.runs->create(std::move(run), call.principal,
                       [&service, answer = call.answer](const Result<Created>& made) {
                         if (!made) return answer(fail(made.error()));
                         if (made->is_new) ++service.counters.runs_created;
                         answer(created(made->id, made->is_new));
                       });
  return {};
}

Result<HttpAnswer> show_run(Service& service, const Call& call) {
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  const auto json = run_json(service, *id, call.parameter("whole") == "true");
  if (!json) return fail(json.error());
  return json_answer(*json);
}

Result<HttpAnswer> show_context(Service& service, const Call& call) {
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  const auto state = service.folds->last(*id);
  if (!state) return fail(state.error());
  return json_answer(app::context_json(app::context_report(**state)));
}

Result<HttpAnswer> show_messages(Service& service, const Call& call) {
  const auto from = call.number("from", 1, SIZE_MAX);
  const auto limit = call.number("limit", kMessagesRead, kMostMessagesRead);
  if (!from) return fail(from.error());
  if (!limit) return fail(limit.error());
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  const auto last = service.folds->last(*id);
  if (!last) return fail(last.error());
  const std::uint64_t first = std::max<std::uint64_t>(*from, 1), total = (*last)->seq;
  const std::uint64_t end =
      first > total ? first : first + std::min<std::uint64_t>(*limit, total + 1 - first);
  Projection projection(service.journal, service.folds);
  State before;
  std::vector<StoredRecord> records;
  if (first < end) {
    projection.expect(*id, first);
    const auto state = projection.before(*id, first);
    if (!state) return fail(state.error());
    before = **state;
    auto read = read_some_records(*service.journal, *id, first, end - first);
    if (!read) return fail(read.error());
    records = *std::move(read);
  }
  records = app::shown_records(std::move(records), service.redactions.filters_of_shown(*(*last)->agent));
  Json json = app::transcript_page(records, before, **last);
  service.redactions.at(&RedactRules::exports, *(*last)->agent).redact(json);
  json.as_object()["records"] = total;
  json.as_object()["next"] = end <= total ? Json(end) : Json(nullptr);
  return json_answer(std::move(json.as_object()));
}

Result<HttpAnswer> export_run(Service& service, const Call& call) {
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  const auto stored = service.runs->stored(*id);
  if (!stored) return fail(stored.error());
  if (auto exact = app::check_exact_export(stored->records, stored->state, service.redactions); !exact)
    return problem(403, exact.error());
  auto text = export_session(*service.journal, *id);
  if (!text) return fail(text.error());
  return HttpAnswer{200,
                    {{"Content-Type", "application/jsonl"},
                     {"Content-Disposition", "attachment; filename=\"" + id->str() + ".jsonl\""}},
                    *std::move(text)};
}

Result<HttpAnswer> import_run(Service& service, const Call& call) {
  if (!call.principal.sees_all)
    return problem(403, make_error(ErrorCode::kPolicy, "this token adds no runs of others"));
  if (call.body.empty()) return fail(field_error("body", "is missing: what GET /api/v1/runs/ID/export gave"));
  const auto id = import_session(*service.journal, call.body);
  if (!id) return fail(id.error());
  const Status whole = check_export(call.body);
  HttpAnswer answer = created(*id, true);
  answer.body = to_json_text(JsonObject{{"id", id->str()},
                                        {"created", true},
                                        {"problem", whole ? Json(nullptr) : Json(whole.error().message)}});
  return answer;
}

Result<HttpAnswer> replay_run(Service& service, const Call& call) {
  const auto stored = stored_of(service, call);
  if (!stored) return fail(stored.error());
  auto report = replay(stored->records);
  if (!report) return fail(report.error());
  const redact::Redaction shown = service.redactions.filters_of_shown(*stored->state.agent);
  app::redact_difference(report->divergence, shown, shown);
  Json divergence = nullptr;
  if (const auto& found = report->divergence) {
    divergence = JsonObject{
        {"seq", found->seq}, {"field", found->field}, {"expected", found->expected}, {"found", found->found}};
  }
  return json_answer(JsonObject{{"identical", !report->divergence},
                                {"records", report->records},
                                {"derived", report->derived},
                                {"divergence", std::move(divergence)}});
}

Result<HttpAnswer> rewind_run(Service& service, const Call& call) {
  const auto body = call.object({"turn"});
  if (!body) return fail(body.error());
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  const auto turn = text_of(*body, "turn");
  if (!turn) return fail(turn.error());
  if (turn->empty())
    return fail(field_error("turn", "is missing: the turn before which to go back, such as t2"));
  if (auto gone = service.runs->rewind(*id, TurnId(*turn)); !gone) return fail(gone.error());
  return json_answer(JsonObject{{"id", id->str()}, {"turn", *turn}});
}

Status send_message(Service& service, const Call& call) {
  const auto body = call.object({"prompt", "schema", "attachments"});
  if (!body) return fail(body.error());
  auto prompt = prompt_of(*body);
  if (!prompt) return fail(prompt.error());
  auto content = content_of(*body, *prompt);
  if (!content) return fail(content.error());
  auto schema = schema_of_body(*body);
  if (!schema) return fail(schema.error());
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  if (!body->contains("schema")) {
    const auto stored = service.runs->stored(*id);
    if (!stored) return fail(stored.error());
    schema = schema_of_next_turn(stored->records, NextTurn::kMessage);
  }
  auto slot = service.runs->begin_turn(call.principal);
  if (!slot) return fail(slot.error());
  Message message = text_message(Role::kUser, *std::move(prompt));
  if (!content->empty()) message.parts = *std::move(content);
  service.runs->send(*id, *std::move(slot), std::move(message), *std::move(schema),
                     [id = *id, answer = call.answer](const Status& begun) {
                       if (!begun) return answer(fail(begun.error()));
                       answer(json_answer(JsonObject{{"id", id.str()}}, 202));
                     });
  return {};
}

Result<HttpAnswer> resume_run(Service& service, const Call& call) {
  const auto body = call.object({});
  if (!body) return fail(body.error());
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  if (auto resumed = service.runs->resume(*id); !resumed) return fail(resumed.error());
  return json_answer(JsonObject{{"id", id->str()}}, 202);
}

}  // namespace praxis::server
