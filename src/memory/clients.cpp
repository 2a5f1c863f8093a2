#include <algorithm>
#include <utility>

#include "memory/note_meaning.hpp"
#include "memory/note_store.hpp"
#include "memory/words.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/memory/stores.hpp"

namespace praxis {
namespace {

/// How many notes of each ranking take part in the fusion.
constexpr std::size_t kCandidates = 200;
constexpr std::size_t kMaxResults = 10'000;

/// What both clients do on one store.
class StoreAccess {
 public:
  StoreAccess(std::shared_ptr<NoteStore> store, const MemoryOptions& options, NoteSpace space)
      : store_(std::move(store)),
        environment_(options.environment ? options.environment : system_environment()),
        limits_(options.limits),
        space_(space) {
    if (options.embedder && space == NoteSpace::kCollection)
      meaning_ = std::make_shared<NoteMeaning>(store_, options.embedder);
  }

  Status check_name(std::string_view what, const std::string& name) const {
    if (!name.empty() && name.size() <= limits_.max_name_bytes) return {};
    return fail(ErrorCode::kInput, "the " + std::string(what) + " of a note has " +
                                       std::to_string(name.size()) + " bytes; give one with 1 to " +
                                       std::to_string(limits_.max_name_bytes));
  }

  Result<bool> put(Note note, const std::string& once) const {
    if (auto checked = check_value(note.value); !checked) return fail(std::move(checked.error()));
    note.written = environment_->now();
    return store_->put(space_, note, once);
  }

  Status change(const std::string& collection, NoteChanges changes, const std::string& once) const {
    if (auto checked = check_name("collection", collection); !checked) return checked;
    std::vector<Note> notes;
    for (auto& [key, value] : changes.writes) {
      auto checked = check_name("key", key);
      if (checked) checked = check_value(value);
      if (!checked) return checked;
      notes.push_back({collection, std::move(key), std::move(value), environment_->now()});
    }
    return store_->change(space_, collection, notes, changes.removals, once);
  }

  Result<std::vector<Hit>> search(std::string_view text, const std::string& collection, const Filter& filter,
                                  std::size_t top_k) const {
    const auto words = query_words(text);
    if (words.empty()) return std::vector<Hit>{};
    const std::size_t limit = std::min(top_k, kMaxResults);
    std::optional<MeaningQuery> meaning;
    if (meaning_) {
      auto made = meaning_->query_for(std::string(text));
      if (!made) return fail(std::move(made.error()));
      meaning = *std::move(made);
    }
    auto found = store_->find(
        space_, collection, words, meaning ? &*meaning : nullptr,
        [&](const Json& value) { return filter.matches(value); }, std::max(limit, kCandidates));
    if (!found) return fail(std::move(found.error()));
    std::vector<Scored> scores;
    for (const FoundNote& each : *found) scores.push_back(each.scores);
    std::vector<Hit> hits;
    for (const Ranked& place : fuse(scores, limit)) {
      Note& note = (*found)[place.index].note;
      auto terms = matching_words(words, searchable_text(note.key, note.value));
      hits.push_back({std::move(note), place.score, std::move(terms), place.words_rank, place.pieces_rank,
                      place.recency_rank, place.meaning_rank});
    }
    return hits;
  }

  /// The id of a new entry.
  std::string new_key(const std::string& once) const {
    constexpr std::size_t kIdBytes = 16;
    return once.empty() ? environment_->new_id() : digest_of(once).hex(kIdBytes);
  }

  NoteStore& store() const { return *store_; }

 private:
  Status check_value(const Json& value) const {
    const std::size_t size = to_json_text(value).size();
    if (size <= limits_.max_value_bytes) return {};
    return fail(ErrorCode::kLimit, "the value of a note has " + std::to_string(size) + " bytes, at most " +
                                       std::to_string(limits_.max_value_bytes) + " fit; store it in parts");
  }

  const std::shared_ptr<NoteStore> store_;
  const std::shared_ptr<Environment> environment_;
  const MemoryLimits limits_;
  const NoteSpace space_;
  std::shared_ptr<NoteMeaning> meaning_;  // null: searches by words alone
};

class StreamClient final : public MemoryClient {
 public:
  explicit StreamClient(StoreAccess access) : access_(std::move(access)) {}

  Result<std::string> append(const std::string& stream, Json entry, const ChangeOptions& options) override {
    if (auto checked = access_.check_name("stream", stream); !checked) return fail(checked.error());
    Note note{stream, access_.new_key(options.once), std::move(entry), {}};
    std::string id = note.key;
    if (auto put = access_.put(std::move(note), options.once); !put) return fail(std::move(put.error()));
    return id;
  }

  Result<std::vector<Note>> read(const std::string& stream, const StreamReadOptions& options) override {
    std::vector<Note> notes;
    const std::size_t limit = std::min(options.limit, kMaxResults);
    if (limit == 0) return notes;
    const auto take = [&](Note note) {
      notes.push_back(std::move(note));
      return notes.size() < limit;
    };
    const bool latest = options.after.empty();
    auto visited = latest ? access_.store().visit_newest(NoteSpace::kStream, stream, take)
                          : access_.store().visit_written(NoteSpace::kStream, stream, options.after, take);
    if (!visited) return fail(std::move(visited.error()));
    if (latest) std::ranges::reverse(notes);
    return notes;
  }

  Result<std::vector<Hit>> search(std::string_view query, const StreamSearchOptions& options) override {
    return access_.search(query, options.stream, {}, options.top_k);
  }

  Result<bool> clear(const std::string& stream, const ChangeOptions& options) override {
    if (auto checked = access_.check_name("stream", stream); !checked) return fail(checked.error());
    return access_.store().remove(NoteSpace::kStream, stream, std::nullopt, options.once);
  }

  Result<std::vector<CollectionInfo>> streams() override {
    return access_.store().collections(NoteSpace::kStream);
  }

 private:
  const StoreAccess access_;
};

class StoreDatabase final : public DatabaseClient {
 public:
  explicit StoreDatabase(StoreAccess access) : access_(std::move(access)) {}

  Status write(const std::string& collection, const std::string& key, Json value,
               const ChangeOptions& options) override {
    if (auto checked = access_.check_name("collection", collection); !checked) return checked;
    if (auto checked = access_.check_name("key", key); !checked) return checked;
    if (auto put = access_.put({collection, key, std::move(value), {}}, options.once); !put)
      return fail(std::move(put.error()));
    return {};
  }

  Result<std::optional<Note>> read(const std::string& collection, const std::string& key) override {
    return access_.store().get(NoteSpace::kCollection, collection, key);
  }

  Result<std::vector<Note>> query(const std::string& collection, const Filter& filter,
                                  const QueryOptions& options) override {
    std::vector<Note> notes;
    const std::size_t limit = std::min(options.limit, kMaxResults);
    if (limit == 0) return notes;
    const auto take = [&](Note note) {
      if (filter.matches(note.value)) notes.push_back(std::move(note));
      return notes.size() < limit;
    };
    NoteStore& store = access_.store();
    constexpr NoteSpace kSpace = NoteSpace::kCollection;
    auto visited = options.newest_first   ? store.visit_newest(kSpace, collection, take)
                   : options.oldest_first ? store.visit_oldest(kSpace, collection, take)
                                          : store.visit_keys(kSpace, collection, options.after, take);
    if (!visited) return fail(std::move(visited.error()));
    return notes;
  }

  Result<std::vector<Hit>> search(std::string_view text, const SearchOptions& options) override {
    return access_.search(text, options.collection, options.filter, options.top_k);
  }

  Result<bool> remove(const std::string& collection, const std::optional<std::string>& key,
                      const ChangeOptions& options) override {
    return access_.store().remove(NoteSpace::kCollection, collection, key, options.once);
  }

  Status change(const std::string& collection, NoteChanges changes, const ChangeOptions& options) override {
    return access_.change(collection, std::move(changes), options.once);
  }

  Status purge() override { return access_.store().purge(); }

  Result<std::vector<CollectionInfo>> collections() override {
    return access_.store().collections(NoteSpace::kCollection);
  }

 private:
  const StoreAccess access_;
};

Json rank_or_null(const std::optional<std::size_t>& rank) { return rank ? Json(*rank) : Json(nullptr); }

}  // namespace

Json to_json(const Note& note) {
  return {{"collection", note.collection},
          {"key", note.key},
          {"value", note.value},
          {"written", to_iso8601(note.written)}};
}

Json to_json(const Hit& hit) {
  Json json = to_json(hit.note);
  JsonObject& object = json.get_object();
  object["score"] = hit.score;
  object["terms"] = JsonArray(hit.terms.begin(), hit.terms.end());
  object["ranks"] = {{"words", rank_or_null(hit.words_rank)},
                     {"pieces", rank_or_null(hit.pieces_rank)},
                     {"recency", hit.recency_rank}};
  if (hit.meaning_rank) object["ranks"].get_object()["meaning"] = *hit.meaning_rank;
  return json;
}

Status check_memory_room(const MemoryLimits& limits, std::size_t notes, std::size_t bytes) {
  if (notes <= limits.max_notes && bytes <= limits.max_bytes) return {};
  return fail(ErrorCode::kLimit, "the memory is full: at most " + std::to_string(limits.max_notes) +
                                     " notes with " + std::to_string(limits.max_bytes) +
                                     " bytes fit; forget what is no longer needed");
}

MemoryClients clients_of(std::shared_ptr<NoteStore> store, const MemoryOptions& options) {
  return {std::make_shared<StreamClient>(StoreAccess(store, options, NoteSpace::kStream)),
          std::make_shared<StoreDatabase>(StoreAccess(store, options, NoteSpace::kCollection))};
}

}  // namespace praxis
