// What the agents of the server's user share: versioned prompts, and notes of the memory.
#include <algorithm>
#include <utility>

#include "praxis/memory/stores.hpp"
#include "praxis/prompts/prompt_store.hpp"
#include "server/handlers.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kNotesShown = 20, kMostNotesShown = 200;

/// Prompts and notes belong to no principal; a token that sees only its own runs sees none of them.
Status check_sees_all(const Call& call) {
  if (call.principal.sees_all) return {};
  return fail(make_error(ErrorCode::kPolicy, "this token sees no prompts and no memory"));
}

JsonArray labels_json(const std::vector<std::pair<std::string, std::string>>& labels) {
  JsonArray list;
  for (const auto& [label, version] : labels)
    list.push_back(JsonObject{{"label", label}, {"version", version}});
  return list;
}

JsonObject version_json(const PromptTemplate& prompt) {
  return JsonObject{{"version", prompt.version},
                    {"text", prompt.text},
                    {"created_by", prompt.created_by},
                    {"created_at", to_iso8601(prompt.created_at)},
                    {"parent", prompt.parent.empty() ? Json(nullptr) : Json(prompt.parent)}};
}

JsonObject collection_json(const CollectionInfo& collection) {
  return JsonObject{{"name", collection.name},
                    {"notes", collection.notes},
                    {"bytes", collection.bytes},
                    {"written", to_iso8601(collection.written)}};
}

Json place_json(const std::optional<std::size_t>& place) { return place ? Json(*place) : Json(nullptr); }

JsonObject note_json(const Note& note) {
  return JsonObject{{"collection", note.collection},
                    {"key", note.key},
                    {"value", note.value},
                    {"written", to_iso8601(note.written)}};
}

JsonObject hit_json(const Hit& hit) {
  JsonObject json = note_json(hit.note);
  json["score"] = hit.score;
  json["terms"] = JsonArray(hit.terms.begin(), hit.terms.end());
  json["ranks"] = JsonObject{{"words", place_json(hit.words_rank)},
                             {"pieces", place_json(hit.pieces_rank)},
                             {"recency", hit.recency_rank},
                             {"meaning", place_json(hit.meaning_rank)}};
  return json;
}

}  // namespace

Result<HttpAnswer> list_prompts(Service& service, const Call& call) {
  if (auto allowed = check_sees_all(call); !allowed) return fail(allowed.error());
  const auto store = app::open_prompts(*service.workspace);
  if (!store) return fail(store.error());
  const auto all = (*store)->list();
  if (!all) return fail(all.error());
  JsonArray prompts;
  for (const PromptTemplate& prompt : *all) {
    const auto labels = (*store)->labels(prompt.id);
    if (!labels) return fail(labels.error());
    prompts.push_back(JsonObject{{"id", prompt.id},
                                 {"name", prompt.name},
                                 {"version", prompt.version},
                                 {"created_at", to_iso8601(prompt.created_at)},
                                 {"labels", labels_json(*labels)}});
  }
  return json_answer(JsonObject{{"prompts", std::move(prompts)}});
}

Result<HttpAnswer> show_prompt(Service& service, const Call& call) {
  if (auto allowed = check_sees_all(call); !allowed) return fail(allowed.error());
  const std::string& id = call.name("prompt");
  const auto store = app::open_prompts(*service.workspace);
  if (!store) return fail(store.error());
  const auto found = (*store)->versions(id);
  if (!found) return fail(found.error());
  if (found->empty()) return fail(not_found("prompt", id));
  const auto labels = (*store)->labels(id);
  if (!labels) return fail(labels.error());
  JsonArray versions;
  for (const PromptTemplate& version : *found) versions.push_back(version_json(version));
  return json_answer(
      JsonObject{{"id", id}, {"versions", std::move(versions)}, {"labels", labels_json(*labels)}});
}

Result<HttpAnswer> label_prompt(Service& service, const Call& call) {
  if (auto allowed = check_sees_all(call); !allowed) return fail(allowed.error());
  const auto body = call.object({"label", "version"});
  if (!body) return fail(body.error());
  const auto label = text_of(*body, "label"), version = text_of(*body, "version");
  if (!label) return fail(label.error());
  if (!version) return fail(version.error());
  const std::string& id = call.name("prompt");
  const auto store = app::open_prompts(*service.workspace);
  if (!store) return fail(store.error());
  const auto found = (*store)->get(id, *version);
  if (!found) return fail(found.error());
  if (!*found) return fail(not_found("version", id + "@" + *version));
  if (auto moved = (*store)->label(id, *label, *version, call.principal.name); !moved)
    return fail(Error(moved.error()).set("field", "label"));
  return json_answer(JsonObject{{"id", id}, {"label", *label}, {"version", *version}});
}

Result<HttpAnswer> search_memory(Service& service, const Call& call) {
  if (auto allowed = check_sees_all(call); !allowed) return fail(allowed.error());
  const auto limit = call.number("limit", kNotesShown, kMostNotesShown);
  if (!limit) return fail(limit.error());
  const std::string text = call.parameter("q"), collection = call.parameter("collection");
  JsonArray collections, notes;
  const auto memory = app::open_memory(*service.workspace, MemoryUse::kExisting);
  if (!memory && memory.error().kind() != ErrorKind::kNotFound) return fail(memory.error());
  if (memory) {
    const auto all = memory->database->collections();
    if (!all) return fail(all.error());
    for (const CollectionInfo& each : *all) collections.push_back(collection_json(each));
    if (!text.empty()) {
      const auto hits = memory->database->search(text, {.top_k = *limit, .collection = collection});
      if (!hits) return fail(hits.error());
      for (const Hit& hit : *hits) notes.push_back(hit_json(hit));
    } else if (!collection.empty()) {
      const auto found =
          memory->database->query(collection, {}, {.limit = *limit, .after = {}, .newest_first = true});
      if (!found) return fail(found.error());
      for (const Note& note : *found) notes.push_back(note_json(note));
    }
  }
  return json_answer(JsonObject{{"collections", std::move(collections)}, {"notes", std::move(notes)}});
}

}  // namespace praxis::server
