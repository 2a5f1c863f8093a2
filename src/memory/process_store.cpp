// The memory of one process. A search reads all notes: it is for tests and small memories.
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "memory/note_store.hpp"
#include "memory/scanned_ranking.hpp"

namespace praxis {
namespace {

using CollectionId = std::pair<NoteSpace, std::string>;

struct KeptNote {
  std::int64_t id = 0;
  Note note;
  std::size_t bytes = 0;
  NoteText text;
};

KeptNote kept(std::int64_t id, const Note& note) {
  return {id, note, note.key.size() + to_json_text(note.value).size(), note_text(note)};
}

class ProcessStore final : public NoteStore {
 public:
  explicit ProcessStore(MemoryLimits limits) : limits_(limits) {}

  Result<bool> put(NoteSpace space, const Note& note, const std::string& once) override {
    KeptNote fresh = kept(0, note);
    const std::lock_guard lock(mutex_);
    if (effects_.contains(once)) return false;
    auto& notes = collections_[{space, note.collection}];
    const auto old = notes.find(note.key);
    const std::size_t freed = old == notes.end() ? 0 : old->second.bytes;
    const std::size_t count = count_ + (old == notes.end() ? 1 : 0);
    if (auto room = check_memory_room(limits_, count, bytes_ - freed + fresh.bytes); !room) {
      if (notes.empty()) collections_.erase({space, note.collection});
      return fail(std::move(room.error()));
    }
    count_ = count;
    bytes_ = bytes_ - freed + fresh.bytes;
    fresh.id = ++last_id_;
    notes.insert_or_assign(note.key, std::move(fresh));
    know(once, true);
    return true;
  }

  Result<std::optional<Note>> get(NoteSpace space, const std::string& collection,
                                  const std::string& key) override {
    const std::lock_guard lock(mutex_);
    const auto& notes = of(space, collection);
    const auto found = notes.find(key);
    return found == notes.end() ? std::nullopt : std::optional(found->second.note);
  }

  Status visit_keys(NoteSpace space, const std::string& collection, const std::string& after,
                    const Visit& visit) override {
    const std::lock_guard lock(mutex_);
    const auto& notes = of(space, collection);
    for (auto each = notes.upper_bound(after); each != notes.end(); ++each) {
      if (!visit(each->second.note)) break;
    }
    return {};
  }

  Status visit_newest(NoteSpace space, const std::string& collection, const Visit& visit) override {
    const std::lock_guard lock(mutex_);
    const auto order = by_id(space, collection);
    for (auto each = order.rbegin(); each != order.rend(); ++each) {
      if (!visit(each->second->note)) break;
    }
    return {};
  }

  Status visit_written(NoteSpace space, const std::string& collection, const std::string& after,
                       const Visit& visit) override {
    const std::lock_guard lock(mutex_);
    const auto& notes = of(space, collection);
    const auto start = notes.find(after);
    if (start == notes.end()) return fail(ErrorCode::kInput, "the stream has no entry \"" + after + '"');
    const auto order = by_id(space, collection);
    for (auto each = order.upper_bound(start->second.id); each != order.end(); ++each) {
      if (!visit(each->second->note)) break;
    }
    return {};
  }

  Result<std::vector<FoundNote>> find(NoteSpace space, const std::string& collection,
                                      const std::vector<std::string>& words, const MeaningQuery* /*meaning*/,
                                      const Keep& keep, std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    ScannedRanking ranking(words);
    std::map<std::int64_t, const Note*> candidates;
    for (const auto& [id, notes] : collections_) {
      const bool is_searched = id.first == space && (collection.empty() || id.second == collection);
      for (const auto& entry : notes) {
        const KeptNote& each = entry.second;
        ranking.add(each.id, each.text, [&] {
          if (!is_searched || !keep(each.note.value)) return false;
          candidates.emplace(each.id, &each.note);
          return true;
        });
      }
    }
    std::vector<FoundNote> result;
    for (const Scored& scored : ranking.best(limit)) result.push_back({*candidates.at(scored.id), scored});
    return result;
  }

  Result<bool> remove(NoteSpace space, const std::string& collection, const std::optional<std::string>& key,
                      const std::string& once) override {
    const std::lock_guard lock(mutex_);
    if (const auto known = effects_.find(once); known != effects_.end()) return known->second;
    const auto notes = collections_.find({space, collection});
    bool removed = false;
    if (notes != collections_.end()) {
      for (auto each = notes->second.begin(); each != notes->second.end();) {
        const bool goes = !key || each->first == *key;
        if (goes) {
          bytes_ -= each->second.bytes;
          --count_;
          removed = true;
        }
        each = goes ? notes->second.erase(each) : std::next(each);
      }
      if (notes->second.empty()) collections_.erase(notes);
    }
    know(once, removed);
    return removed;
  }

  Status change(NoteSpace space, const std::string& collection, const std::vector<Note>& writes,
                const std::vector<std::string>& removals, const std::string& once) override {
    const std::lock_guard lock(mutex_);
    if (effects_.contains(once)) return {};
    Notes fresh;
    std::set<std::string> gone(removals.begin(), removals.end());
    for (const Note& note : writes) {
      fresh.insert_or_assign(note.key, kept(++last_id_, note));
      gone.insert(note.key);
    }
    std::size_t count = count_ + fresh.size(), bytes = bytes_ + bytes_of(fresh);
    const Notes& before = of(space, collection);
    for (const std::string& key : gone) {
      if (const auto old = before.find(key); old != before.end()) {
        --count;
        bytes -= old->second.bytes;
      }
    }
    if (auto room = check_memory_room(limits_, count, bytes); !room) return room;
    count_ = count;
    bytes_ = bytes;
    Notes& notes = collections_[{space, collection}];
    for (const std::string& key : gone) notes.erase(key);
    notes.merge(fresh);
    if (notes.empty()) collections_.erase({space, collection});
    know(once, true);
    return {};
  }

  Result<std::vector<CollectionInfo>> collections(NoteSpace space) override {
    const std::lock_guard lock(mutex_);
    std::vector<CollectionInfo> all;
    for (const auto& [id, notes] : collections_) {
      if (id.first != space) continue;
      CollectionInfo info{id.second, notes.size(), 0, {}};
      for (const auto& [key, each] : notes) {
        info.bytes += each.bytes;
        info.written = std::max(info.written, each.note.written);
      }
      all.push_back(std::move(info));
    }
    return all;
  }

 private:
  using Notes = std::map<std::string, KeptNote>;

  static std::size_t bytes_of(const Notes& notes) {
    std::size_t bytes = 0;
    for (const auto& [key, each] : notes) bytes += each.bytes;
    return bytes;
  }

  const Notes& of(NoteSpace space, const std::string& collection) const {
    static const Notes kNone;
    const auto found = collections_.find({space, collection});
    return found == collections_.end() ? kNone : found->second;
  }

  std::map<std::int64_t, const KeptNote*> by_id(NoteSpace space, const std::string& collection) const {
    std::map<std::int64_t, const KeptNote*> order;
    for (const auto& [key, each] : of(space, collection)) order.emplace(each.id, &each);
    return order;
  }

  void know(const std::string& once, bool result) {
    if (once.empty()) return;
    effects_.emplace(once, result);
    effect_order_.push_back(once);
    if (effect_order_.size() <= static_cast<std::size_t>(kKnownEffects)) return;
    effects_.erase(effect_order_.front());
    effect_order_.pop_front();
  }

  const MemoryLimits limits_;
  std::mutex mutex_;
  std::map<CollectionId, Notes> collections_;
  std::int64_t last_id_ = 0;
  std::size_t count_ = 0, bytes_ = 0;
  std::map<std::string, bool> effects_;  ///< results by key
  std::deque<std::string> effect_order_;
};

}  // namespace

MemoryClients memory_in_process(MemoryOptions options) {
  return clients_of(std::make_shared<ProcessStore>(options.limits), options);
}

}  // namespace praxis
