#include "app/transcript.hpp"

#include <map>
#include <string>
#include <utility>
#include <variant>

#include "app/transcript_page.hpp"
#include "app/without_secrets.hpp"
#include "praxis/core/event.hpp"
#include "praxis/core/records.hpp"

namespace praxis::app {
namespace {

/// An image or file, without its bytes.
JsonObject media_json(std::string_view type, const MediaSource& source, const std::string& name) {
  JsonObject out{{"type", type}, {"media_type", source.mime}};
  if (!name.empty()) out["name"] = name;
  if (!source.url.empty()) out["url"] = source.url;
  if (!source.data.empty()) out["bytes"] = source.data.size();
  return out;
}

JsonObject call_json(const ToolCallPart& part) {
  auto arguments = parse_json(part.arguments);
  return {{"type", "call"},
          {"call", part.id.str()},
          {"tool", part.name},
          {"arguments", arguments ? *std::move(arguments) : Json(part.arguments)}};
}

/// The part as an entry of `content`; empty for parts that a reader does not see.
JsonObject part_json(const Part& part) {
  return std::visit(
      match{[](const TextPart& p) { return JsonObject{{"type", "text"}, {"text", p.text}}; },
            [](const ReasoningPart& p) {
              const std::string& text = p.summary.empty() ? p.text : p.summary;
              return text.empty() ? JsonObject{} : JsonObject{{"type", "reasoning"}, {"text", text}};
            },
            [](const ToolCallPart& p) { return call_json(p); },
            [](const ImagePart& p) { return media_json("image", p.source, ""); },
            [](const FilePart& p) { return media_json("file", p.source, p.name); },
            [](const RefusalPart& p) { return JsonObject{{"type", "refusal"}, {"text", p.text}}; },
            [](const auto&) { return JsonObject{}; }},
      part);
}

JsonArray content_json(const std::vector<Part>& parts) {
  JsonArray content;
  for (const Part& part : parts) {
    if (JsonObject one = part_json(part); !one.empty()) content.push_back(std::move(one));
  }
  return content;
}

/// Makes the items of one record after the other.
class Items {
 public:
  /// Of the records that follow a state.
  explicit Items(const State& before) {
    if (before.team) speaker_ = before.team->answering;
    if (!before.turn) return;
    for (const CallState& call : before.turn->calls) {
      if (call.effect.empty()) continue;
      records::EffectIntended& intended = intended_[call.effect];
      intended.kind = EffectKind::kTool;
      intended.tool = call.call.name;
      intended.call = call.call.id;
    }
    if (const auto& effect = before.turn->effect) {
      records::EffectIntended& intended = intended_[effect->effect];
      intended.kind = effect->kind;
      intended.step = before.turn->step;
      intended.summary = effect->summary;
      intended.consult = effect->consult;
    }
  }

  void add(const Record& record) {
    time_ = record.time;
    std::visit([this](const auto& body) { (*this)(body); }, record.body);
  }
  JsonArray take() { return std::move(items_); }

  void operator()(const records::SpeakerSet& r) { speaker_ = r.agent; }
  void operator()(const records::TurnStarted& r) {
    JsonObject turn{{"turn", r.turn.str()}};
    if (!speaker_.empty()) turn["agent"] = speaker_;
    item("turn", std::move(turn));
  }
  void operator()(const records::MessageAppended& r) {
    item("message", {{"role", to_string(r.message->role)},
                     {"source", to_string(r.source)},
                     {"content", content_json(r.message->parts)}});
  }
  void operator()(const records::EffectIntended& r) { intended_[r.effect] = r; }
  void operator()(const records::EffectSettled& r) {
    const auto found = intended_.find(r.effect);
    if (found == intended_.end() || found->second.summary || found->second.consult) return;
    if (found->second.kind == EffectKind::kModel) answer(found->second, r);
    if (found->second.kind == EffectKind::kTool) result(found->second, r);
  }
  void operator()(const records::ChildSpawned& r) {
    item("agent", {{"call", r.call.str()}, {"agent", r.agent}, {"run_id", r.child.str()}});
  }
  void operator()(const records::ChildSettled& r) {
    item("agent_ended",
         {{"run_id", r.child.str()}, {"termination", to_string(r.reason)}, {"usage", to_json(r.usage)}});
  }
  void operator()(const records::CallProposed& r) {
    JsonObject call = call_json(r.call);
    call.erase("type");
    call["within"] = r.within.str();
    item("inner_call", std::move(call));
  }
  void operator()(const records::Parked& r) {
    item("waits", {{"pending", r.step.id.str()},
                   {"kind", to_string(r.step.kind)},
                   {"tool", r.step.tool},
                   {"prompt", r.step.prompt}});
  }
  void operator()(const records::Decided& r) {
    item("decision", {{"pending", r.park.str()},
                      {"call", r.call.str()},
                      {"verb", to_string(r.verb)},
                      {"text", r.text},
                      {"by", r.author.principal}});
  }
  void operator()(const records::Intervened& r) {
    item("command", {{"verb", to_string(r.verb)}, {"text", r.text}, {"by", r.author.principal}});
  }
  void operator()(const records::TurnSettled& r) {
    item("end", {{"turn", r.turn.str()},
                 {"termination", to_string(r.reason)},
                 {"text", r.text},
                 {"error", r.error ? Json(r.error->message) : Json(nullptr)}});
  }
  template <class Other>
  void operator()(const Other&) {}

 private:
  void item(std::string_view type, JsonObject fields) {
    JsonObject out{{"type", type}, {"time", to_iso8601(time_)}};
    for (auto& [key, value] : fields) out[key] = std::move(value);
    items_.push_back(std::move(out));
  }

  void answer(const records::EffectIntended& asked, const records::EffectSettled& r) {
    JsonObject out{{"step", asked.step}};
    if (const auto* response = std::get_if<ModelResponse>(&r.result)) {
      out["model"] = response->model;
      out["content"] = content_json(response->parts);
    } else if (r.error) {
      out["error"] = r.error->message;
    } else {
      return;
    }
    item("answer", std::move(out));
  }

  void result(const records::EffectIntended& asked, const records::EffectSettled& r) {
    JsonObject out{{"call", asked.call.str()},
                   {"tool", asked.tool},
                   {"outcome", to_string(r.outcome)},
                   {"duration_ms", r.duration.count()}};
    if (const auto* outcome = std::get_if<ToolOutcome>(&r.result)) {
      out["text"] = outcome->result.text;
      JsonArray media;
      for (const ImagePart& image : outcome->result.images)
        media.push_back(media_json("image", image.source, ""));
      for (const FilePart& file : outcome->result.files)
        media.push_back(media_json("file", file.source, file.name));
      if (!media.empty()) out["media"] = std::move(media);
    }
    if (r.error) out["error"] = r.error->message;
    item("result", std::move(out));
  }

  UnixMillis time_;
  std::string speaker_;  ///< the member of a team that answers the next turn; empty: no team
  std::map<EffectId, records::EffectIntended> intended_;
  JsonArray items_;
};

}  // namespace

Json transcript(const std::vector<StoredRecord>& records, const State& state) {
  return transcript_page(records, State{}, state);
}

Json transcript_page(const std::vector<StoredRecord>& records, const State& before, const State& state) {
  Items items(before);
  for (const StoredRecord& stored : records) items.add(stored.record);
  const Usage& usage = state.usage;
  const bool is_priced = usage.cost.value != 0 || usage.total() == 0;
  return JsonObject{{"schema_version", 1},
                    {"run_id", state.id.str()},
                    {"agent", state.agent->id},
                    {"model", state.agent->model},
                    {"status", to_string(state.status())},
                    {"usage", to_json(usage)},
                    {"cost_usd", is_priced ? Json(usage.cost.usd()) : Json(nullptr)},
                    {"items", items.take()}};
}

Status check_exact_export(const std::vector<StoredRecord>& records, const State& state,
                          const Redactions& redactions) {
  if (!state.agent) return {};
  const redact::Redaction filters = redactions.filters_of_exports(*state.agent);
  const Json before = transcript(records, state);
  Json after = before;
  filters.redact(after);
  if (after == before) return {};
  return fail(ErrorCode::kPolicy, ErrorKind::kContentPolicy,
              "the records of run " + state.id.str() +
                  " cannot be exported: they are exact, and a filter at \"export\" would change them; "
                  "export json, markdown or html");
}

Json transcript_for_export(const std::vector<StoredRecord>& records, const State& state,
                           const Redactions& redactions) {
  Json made = transcript(records, state);
  if (state.agent) redactions.at(&RedactRules::exports, *state.agent).redact(made);
  return made;
}

}  // namespace praxis::app
