// The JSON form of records. Omits optional fields with their default values: most of a journal is messages,
// and the other records should stay small.
#include <utility>

#include "core/blob_text.hpp"
#include "core/trace_json.hpp"
#include "domain/json_forms.hpp"
#include "praxis/core/records.hpp"

namespace praxis {
namespace {

/// Half a digest is enough to distinguish two requests, and halves the size of an intent.
constexpr std::size_t kShortDigest = 32;
constexpr std::size_t kUsualBytes = 384;  // of a record: one allocation instead of several

/// A model call that summarises has a kind of its own here, so that a reader that does not know summaries
/// refuses it instead of taking the summary for an answer.
constexpr std::string_view kSummaryKind = "model.summary";
/// Likewise for a call that answers a planner's side query.
constexpr std::string_view kConsultKind = "model.consult";

std::string short_hex(const Digest& digest) {
  return digest.empty() ? std::string() : digest.hex(kShortDigest / 2);
}

Digest from_short_hex(std::string text) {
  text.resize(64, '0');
  return Digest::from_hex(text).value_or(Digest{});
}

Json started_json(const std::map<std::string, std::uint32_t>& started) {
  JsonObject calls;
  for (const auto& [tool, count] : started) calls[tool] = count;
  return calls;
}

std::map<std::string, std::uint32_t> started_from_json(const Json& json) {
  std::map<std::string, std::uint32_t> started;
  if (const JsonObject* const calls = json.if_object()) {
    for (const auto& [tool, count] : *calls) started[tool] = static_cast<std::uint32_t>(json_int(json, tool));
  }
  return started;
}

void write(JsonFields& out, const RequestPatch& patch) {
  if (patch.instructions) out.text("instructions", *patch.instructions);
  if (patch.options) out.value("options", to_json(*patch.options));
  if (patch.history) {
    JsonArray messages;
    for (const MessagePtr& message : patch.history->messages()) messages.push_back(to_json(*message));
    out.value("messages", Json(std::move(messages)));
  }
  if (patch.tools) out.value("tools", Json(JsonArray(patch.tools->begin(), patch.tools->end())));
  out.text_if_any("model", patch.model);
}

RequestPatch patch_from_json(const Json& json) {
  RequestPatch patch;
  if (json_at(json, "instructions").is_string()) patch.instructions = json_string(json, "instructions");
  if (json_at(json, "options").is_object()) patch.options = model_options_from_json(json_at(json, "options"));
  if (const auto* tools = json_at(json, "tools").if_array()) {
    patch.tools.emplace();
    for (const Json& tool : *tools) patch.tools->push_back(to_plain_text(tool));
  }
  patch.model = json_string(json, "model");
  const auto* messages = json_at(json, "messages").if_array();
  if (messages == nullptr) return patch;
  std::vector<Message> conversation;
  for (const Json& each : *messages) {
    if (auto message = message_from_json(each)) conversation.push_back(*std::move(message));
  }
  patch.history = normalise(conversation).history;
  return patch;
}

/// Writes the recorded fields of a step; the others follow from its place in the log.
void write(JsonFields& out, const ParkedStep& parked) {
  out.text("id", parked.id.str());
  out.text("kind", to_string(parked.kind));
  out.text("prompt", parked.prompt);
  out.text_if_any("call", parked.call.str());
  out.text_if_any("tool", parked.tool);
  out.text_if_any("arguments", parked.arguments);
  if (!parked.digest.empty()) out.text("digest", parked.digest.hex());
  if (!parked.schema.is_null()) out.value("schema", parked.schema);
}

template <class Value>
void put(JsonFields& out, std::string_view key, const Value& value) {
  out.object(key, [&](JsonFields& fields) { write(fields, value); });
}

void put_outcome(JsonFields& out, const ToolOutcome& tool) {
  out.object("result", [&](JsonFields& result) { write_result(result, tool.result); });
  if (!tool.value.is_null()) out.value("value", tool.value);
  if (!tool.memory.is_null()) out.value("memory", tool.memory);
}

/// Records up to version 4 hold only the `by` of an author.
void put_author(JsonFields& out, const Author& author) {
  out.text_if_any("by", author.principal);
  if (author.surface != Surface::kUnknown) out.text("surface", to_string(author.surface));
  out.text_if_any("role", author.role);
}

Author author_of(const Json& json) {
  const auto surface = surface_from(json_string(json, "surface", to_string(Surface::kUnknown)));
  return {json_string(json, "by"), surface.value_or(Surface::kUnknown), json_string(json, "role")};
}

void put_usage(JsonFields& out, std::string_view key, const Usage& usage) {
  out.object(key, [&](JsonFields& counts) { write_counts(counts, usage); });
}

struct Writer {
  JsonFields& out;

  void operator()(const records::SessionCreated& r) const {
    out.number("version", r.version);
    out.text("session", r.session.str());
    out.value("seed", r.seed);
    out.text_if_any("parent", r.parent.str());
    if (r.depth != 0) out.number("depth", r.depth);
    out.text_if_any("path", r.path);
    out.text_if_any("forked_from", r.forked_from.str());
    if (r.forked_at != 0) out.value("forked_at", r.forked_at);
    put_trace(out, r.trace);
    r.prepared ? out.json("agent", r.prepared->json) : out.value("agent", praxis::to_json(*r.agent));
  }
  void operator()(const records::TurnStarted& r) const {
    out.text("turn", r.turn.str());
    if (!r.output_schema.is_null()) out.value("output_schema", r.output_schema);
  }
  void operator()(const records::MessageAppended& r) const {
    out.text("source", to_string(r.source));
    if (r.reason != NoteReason::kNone) out.text("reason", to_string(r.reason));
    put(out, "message", *r.message);
    if (!r.original) return;
    put(out, "original", *r.original);
    out.text("by", "hook");
  }
  void operator()(const records::EffectIntended& r) const {
    const std::string_view kind = r.summary ? kSummaryKind : r.consult ? kConsultKind : to_string(r.kind);
    out.text("effect", r.effect.str());
    out.text("kind", kind);
    out.text_if_any("name", r.tool);
    if (r.step != 0) out.number("step", r.step);
    if (r.summary) {
      out.value("keep_from", r.summary->keep_from);
      out.text("cause", r.summary->cause);
    }
    if (r.consult) {
      out.text("purpose", r.consult->purpose);
      out.text("prompt", r.consult->prompt);
      if (!r.consult->schema.is_null()) out.value("schema", r.consult->schema);
    }
    if (r.attempt != 1) out.number("attempt", r.attempt);
    out.text_if_any("call", r.call.str());
    out.text_if_any("settings", short_hex(r.request.settings));
    out.text_if_any("tools", short_hex(r.request.tools));
    out.text_if_any("history", short_hex(r.request.history));
    if (r.patch != RequestPatch{}) put(out, "patch", r.patch);
    if (r.delay.count() != 0) out.number("delay_ms", r.delay.count());
    if (r.non_strict) out.flag("non_strict", true);
  }
  void operator()(const records::EffectSettled& r) const {
    out.text("effect", r.effect.str());
    if (r.outcome != Outcome::kOk) out.text("outcome", to_string(r.outcome));
    if (r.duration.count() != 0) out.number("duration_ms", r.duration.count());
    if (r.active) out.number("active_ms", r.active->count());
    if (const auto* response = std::get_if<ModelResponse>(&r.result)) put(out, "response", *response);
    if (const auto* tool = std::get_if<ToolOutcome>(&r.result)) put_outcome(out, *tool);
    if (r.error) put(out, "error", *r.error);
    out.text_if_any("by", r.by);
    if (r.spent.total() != 0) put_usage(out, "spent", r.spent);
    if (!r.original) return;
    out.object("original", [&](JsonFields& before) {
      if (r.original->result) put_outcome(before, *r.original->result);
      if (r.original->error) put(before, "error", *r.original->error);
    });
  }
  void operator()(const records::CallProposed& r) const {
    out.text("within", r.within.str());
    out.text("call", r.call.id.str());
    out.text("name", r.call.name);
    out.text("arguments", r.call.arguments);
    out.text("key", r.key);
  }
  void operator()(const records::ChildSpawned& r) const {
    out.text("child", r.child.str());
    out.text("call", r.call.str());
    out.text("agent", r.agent);
    out.text("key", r.key);
  }
  void operator()(const records::ChildSettled& r) const {
    out.text("child", r.child.str());
    out.text("reason", to_string(r.reason));
    put_usage(out, "usage", r.usage);
    if (r.tool_calls != 0) out.number("tool_calls", r.tool_calls);
    if (!r.started.empty()) out.value("started", started_json(r.started));
  }
  void operator()(const records::SpeakerSet& r) const {
    out.text("agent", r.agent);
    out.text("cause", r.cause);
    if (!r.next.empty()) out.value("next", JsonArray(r.next.begin(), r.next.end()));
    if (!r.strategy.is_null()) out.value("strategy", r.strategy);
    put_author(out, r.author);
  }
  void operator()(const records::Parked& r) const { write(out, r.step); }
  void operator()(const records::Decided& r) const {
    out.text("verb", to_string(r.verb));
    put_author(out, r.author);
    out.text_if_any("park", r.park.str());
    out.text_if_any("call", r.call.str());
    out.text_if_any("text", r.text);
  }
  void operator()(const records::Intervened& r) const {
    out.text("kind", to_string(r.verb));
    out.text_if_any("text", r.text);
    if (r.agent) out.value("agent", praxis::to_json(*r.agent));
    put_author(out, r.author);
    if (r.original.empty()) return;
    out.text("original", r.original);
    out.text("changed_by", "hook");
  }
  void operator()(const records::Compacted& r) const {
    out.value("keep_from", r.keep_from);
    out.text("cause", r.cause);
    out.text_if_any("summary", r.summary);
  }
  void operator()(const records::StatusChanged& r) const {
    out.text("status", to_string(r.status));
    out.text("cause", r.cause);
    if (r.spent.total() != 0) put_usage(out, "spent", r.spent);
  }
  void operator()(const records::TurnSettled& r) const {
    out.text("turn", r.turn.str());
    out.text("reason", to_string(r.reason));
    out.text_if_any("text", r.text);
    if (r.error) put(out, "error", *r.error);
  }
};

std::unexpected<Error> bad(std::string_view kind, std::string_view what) {
  return fail(ErrorCode::kJournal, "record " + std::string(kind) + ": " + std::string(what));
}

Result<AgentSpecPtr> agent_of(const Json& json) {
  auto spec = agent_spec_from_json(json_at(json, "agent"));
  if (!spec) return bad("agent", spec.error().message);
  return std::make_shared<const AgentSpec>(*std::move(spec));
}

Result<RecordBody> read_session_created(const Json& json) {
  records::SessionCreated r;
  r.version = static_cast<std::uint32_t>(json_int(json, "version"));
  if (r.version == 0 || r.version > kRecordVersion) {
    return bad("session_created", "format version " + std::to_string(r.version) +
                                      " is not known to this build (it reads up to " +
                                      std::to_string(kRecordVersion) + ")");
  }
  r.session = SessionId{json_string(json, "session")};
  r.parent = SessionId{json_string(json, "parent")};
  r.depth = static_cast<std::uint32_t>(json_int(json, "depth"));
  r.path = json_string(json, "path");
  r.forked_from = SessionId{json_string(json, "forked_from")};
  r.forked_at = static_cast<std::uint64_t>(json_int(json, "forked_at"));
  const Json& seed = json_at(json, "seed");
  r.seed = seed.is_uint64() ? seed.get_uint64() : static_cast<std::uint64_t>(json_int(json, "seed"));
  auto agent = agent_of(json);
  if (!agent) return fail(agent.error());
  r.agent = *std::move(agent);
  r.trace = trace_of(json);
  return r;
}

Result<RecordBody> read_message_appended(const Json& json) {
  auto message = message_from_json(json_at(json, "message"));
  if (!message) return bad("message_appended", message.error().message);
  const auto source = message_source_from(json_string(json, "source"));
  if (!source) return bad("message_appended", "unknown source");
  const auto reason = note_reason_from(json_string(json, "reason", to_string(NoteReason::kNone)));
  if (!reason) return bad("message_appended", "unknown reason");
  records::MessageAppended r{std::make_shared<const Message>(*std::move(message)), *source, *reason};
  if (auto original = message_from_json(json_at(json, "original")))
    r.original = std::make_shared<const Message>(*std::move(original));
  return r;
}

Result<RecordBody> read_effect_intended(const Json& json) {
  const bool summarises = json_text(json, "kind") == kSummaryKind;
  const bool consults = json_text(json, "kind") == kConsultKind;
  const auto kind = summarises || consults ? EffectKind::kModel : effect_kind_from(json_string(json, "kind"));
  if (!kind) return bad("effect_intended", "unknown effect kind");
  records::EffectIntended r;
  if (summarises)
    r.summary = {static_cast<std::size_t>(json_int(json, "keep_from")), json_string(json, "cause")};
  if (consults)
    r.consult = {json_string(json, "purpose"), json_string(json, "prompt"), json_at(json, "schema")};
  r.effect = EffectId{json_string(json, "effect")};
  r.kind = *kind;
  r.attempt = static_cast<std::uint32_t>(json_int(json, "attempt", 1));
  r.delay = Millis{json_int(json, "delay_ms")};
  // Up to version 3 the record had more fields, all of which follow from the call. `span`, which some of
  // version 5 have, follows from the trace of the session (`effect_trace`).
  if (r.kind == EffectKind::kTool) {
    r.tool = json_string(json, "name");
    r.call = CallId{json_string(json, "call")};
    return r;
  }
  r.step = static_cast<std::uint32_t>(json_int(json, "step"));
  r.request = {from_short_hex(json_string(json, "settings")), from_short_hex(json_string(json, "tools")),
               from_short_hex(json_string(json, "history"))};
  r.patch = patch_from_json(json_at(json, "patch"));
  r.non_strict = json_bool(json, "non_strict");
  return r;
}

/// Reads `result` with what belongs to it.
Result<ToolOutcome> outcome_of(const Json& json) {
  auto result = tool_result_from_json(json_at(json, "result"));
  if (!result) return fail(std::move(result.error()));
  return ToolOutcome{*std::move(result), json_at(json, "value"), json_at(json, "memory")};
}

Result<RecordBody> with_original(records::EffectSettled r, const Json& json) {
  if (!json.is_object()) return r;
  auto original = std::make_shared<records::ToolOriginal>();
  if (const Json& error = json_at(json, "error"); error.is_object()) original->error = error_from_json(error);
  if (json_at(json, "result").is_object()) {
    auto tool = outcome_of(json);
    if (!tool) return bad("effect_settled", tool.error().message);
    original->result = *std::move(tool);
  }
  r.original = std::move(original);
  return r;
}

Result<RecordBody> read_effect_settled(const Json& json) {
  const auto outcome = outcome_from(json_string(json, "outcome", to_string(Outcome::kOk)));
  if (!outcome) return bad("effect_settled", "unknown outcome");
  records::EffectSettled r;
  r.effect = EffectId{json_string(json, "effect")};
  r.outcome = *outcome;
  r.duration = Millis{json_int(json, "duration_ms")};
  if (json_at(json, "active_ms").is_number()) r.active = Millis{json_int(json, "active_ms")};
  r.by = json_string(json, "by");
  if (const Json& response = json_at(json, "response"); response.is_object()) {
    auto parsed = model_response_from_json(response);
    if (!parsed) return bad("effect_settled", parsed.error().message);
    r.result = *std::move(parsed);
  } else if (json_at(json, "result").is_object()) {
    auto tool = outcome_of(json);
    if (!tool) return bad("effect_settled", tool.error().message);
    r.result = *std::move(tool);
  }
  if (const Json& error = json_at(json, "error"); error.is_object()) r.error = error_from_json(error);
  r.spent = usage_from_json(json_at(json, "spent"));
  return with_original(std::move(r), json_at(json, "original"));
}

Result<RecordBody> read_parked(const Json& json) {
  const auto kind = park_kind_from(json_string(json, "kind"));
  if (!kind) return bad("parked", "unknown kind");
  return records::Parked{
      {ParkId{json_string(json, "id")}, *kind, json_string(json, "prompt"), CallId{json_string(json, "call")},
       json_string(json, "tool"), json_string(json, "arguments"),
       Digest::from_hex(json_string(json, "digest")).value_or(Digest{}), json_at(json, "schema")}};
}

RecordBody read_call_proposed(const Json& json) {
  ToolCallPart call;
  call.id = CallId{json_string(json, "call")};
  call.name = json_string(json, "name");
  call.arguments = json_string(json, "arguments");
  return records::CallProposed{CallId{json_string(json, "within")}, std::move(call),
                               json_string(json, "key")};
}

RecordBody read_child_spawned(const Json& json) {
  return records::ChildSpawned{SessionId{json_string(json, "child")}, CallId{json_string(json, "call")},
                               json_string(json, "agent"), json_string(json, "key")};
}

Result<RecordBody> read_child_settled(const Json& json) {
  const auto reason = stop_reason_from(json_string(json, "reason"));
  if (!reason) return bad("child_settled", "unknown reason");
  return records::ChildSettled{
      SessionId{json_string(json, "child")}, *reason, usage_from_json(json_at(json, "usage")),
      static_cast<std::uint32_t>(json_int(json, "tool_calls")), started_from_json(json_at(json, "started"))};
}

RecordBody read_speaker_set(const Json& json) {
  records::SpeakerSet r{
      json_string(json, "agent"), {}, json_string(json, "cause"), json_at(json, "strategy"), author_of(json)};
  if (const auto* next = json_at(json, "next").if_array()) {
    for (const Json& id : *next) r.next.push_back(to_plain_text(id));
  }
  return r;
}

Result<RecordBody> read_decided(const Json& json) {
  const auto verb = approval_verb_from(json_string(json, "verb"));
  if (!verb) return bad("decided", "unknown verb");
  return records::Decided{ParkId{json_string(json, "park")}, CallId{json_string(json, "call")}, *verb,
                          json_string(json, "text"), author_of(json)};
}

Result<RecordBody> read_intervened(const Json& json) {
  const auto verb = command_verb_from(json_string(json, "kind"));
  if (!verb) return bad("intervened", "unknown kind");
  records::Intervened r{*verb, json_string(json, "text"), nullptr, author_of(json),
                        json_string(json, "original")};
  if (json_at(json, "agent").is_object()) {
    auto agent = agent_of(json);
    if (!agent) return fail(agent.error());
    r.agent = *std::move(agent);
  }
  return r;
}

Result<RecordBody> read_turn_settled(const Json& json) {
  const auto reason = stop_reason_from(json_string(json, "reason"));
  if (!reason) return bad("turn_settled", "unknown reason");
  records::TurnSettled r{TurnId{json_string(json, "turn")}, *reason, json_string(json, "text"), std::nullopt};
  if (const Json& error = json_at(json, "error"); error.is_object()) r.error = error_from_json(error);
  return r;
}

Result<RecordBody> read_body(std::string_view kind, const Json& json) {
  if (kind == "session_created") return read_session_created(json);
  if (kind == "turn_started") {
    return records::TurnStarted{TurnId{json_string(json, "turn")}, json_at(json, "output_schema")};
  }
  if (kind == "message_appended") return read_message_appended(json);
  if (kind == "effect_intended") return read_effect_intended(json);
  if (kind == "effect_settled") return read_effect_settled(json);
  if (kind == "parked") return read_parked(json);
  if (kind == "decided") return read_decided(json);
  if (kind == "intervened") return read_intervened(json);
  if (kind == "compacted") {
    return records::Compacted{static_cast<std::size_t>(json_int(json, "keep_from")),
                              json_string(json, "cause"), json_string(json, "summary")};
  }
  if (kind == "status_changed") {
    const auto status = session_status_from(json_string(json, "status"));
    if (!status) return bad(kind, "unknown status");
    return records::StatusChanged{*status, json_string(json, "cause"),
                                  usage_from_json(json_at(json, "spent"))};
  }
  if (kind == "turn_settled") return read_turn_settled(json);
  if (kind == "call_proposed") return read_call_proposed(json);
  if (kind == "child_spawned") return read_child_spawned(json);
  if (kind == "child_settled") return read_child_settled(json);
  if (kind == "speaker_set") return read_speaker_set(json);
  return bad(kind, "this build does not know such a record; a newer praxis wrote it");
}

}  // namespace

Json to_json(const ParkedStep& parked) {
  JsonObject out = object_of([&](JsonFields& fields) { write(fields, parked); });
  JsonArray allowed;
  for (const ApprovalVerb verb : allowed_approvals(parked.kind)) allowed.emplace_back(to_string(verb));
  out["allowed"] = std::move(allowed);
  if (!parked.session.empty()) out["session"] = parked.session.str();
  if (!parked.path.empty()) out["path"] = parked.path;
  if (parked.expires.value != 0) out["expires"] = to_iso8601(parked.expires);
  return out;
}

std::string encode_record(const RecordBody& body, std::vector<RecordBlob>& blobs) {
  std::string text;
  text.reserve(kUsualBytes);
  append_object(text, [&](JsonFields& out) { std::visit(Writer{out}, body); });
  return externalise(std::move(text), blobs);
}

Result<RecordBody> decode_record(std::string_view kind, std::string_view text, const BlobLookup& blobs) {
  auto json = internalise(text, blobs);
  if (!json) {
    Error error = std::move(json.error());  // its `detail` names the missing or damaged blob
    error.code = ErrorCode::kJournal;
    error.message = "record " + std::string(kind) + ": " + error.message;
    return fail(std::move(error));
  }
  return read_body(kind, *json);
}

}  // namespace praxis
