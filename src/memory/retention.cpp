#include "praxis/memory/retention.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace praxis {
namespace {

/// One sweep of one collection.
class Sweep {
 public:
  Sweep(DatabaseClient& memory, const std::string& collection, const Retention& retention,
        const SweepOptions& options)
      : memory_(memory), collection_(collection), retention_(retention), options_(options) {}

  Result<SweepReport> run() {
    const auto environment = options_.environment ? options_.environment : system_environment();
    if (retention_.max_age) oldest_kept_ = environment->now().value - retention_.max_age->count();
    if (auto counted = count_held(); !counted) return fail(std::move(counted.error()));
    for (;;) {
      report_.finished = !options_.stop.stop_requested();
      if (!report_.finished) return report_;
      const auto more = remove_batch();
      if (!more) return fail(more.error());
      if (!*more) break;
    }
    if (auto purged = memory_.purge(); !purged) return fail(std::move(purged.error()));
    return report_;
  }

 private:
  /// Returns whether there may be more to remove.
  Result<bool> remove_batch() {
    QueryOptions oldest;
    oldest.limit = std::max<std::size_t>(options_.batch, 1);
    oldest.oldest_first = true;
    const auto notes = memory_.query(collection_, {}, oldest);
    if (!notes) return fail(notes.error());
    NoteChanges changes;
    for (const Note& note : *notes) {
      const bool goes = note.written.value < oldest_kept_ || notes_ > retention_.max_notes.value_or(notes_) ||
                        bytes_ > retention_.max_bytes.value_or(bytes_);
      if (!goes) break;
      const std::size_t size = note.key.size() + to_json_text(note.value).size();
      notes_ -= std::min<std::size_t>(notes_, 1);
      bytes_ -= std::min(bytes_, size);
      report_.bytes += size;
      changes.removals.push_back(note.key);
    }
    if (changes.removals.empty()) return false;
    const std::size_t removed = changes.removals.size();
    if (auto changed = memory_.change(collection_, std::move(changes)); !changed)
      return fail(std::move(changed.error()));
    report_.removed += removed;
    return removed == notes->size();
  }

  /// Counting takes a look at all notes, so that it is done once.
  Status count_held() {
    const auto all = memory_.collections();
    if (!all) return fail(all.error());
    const auto found = std::ranges::find(*all, collection_, &CollectionInfo::name);
    if (found == all->end()) return {};
    notes_ = found->notes;
    bytes_ = found->bytes;
    return {};
  }

  DatabaseClient& memory_;
  const std::string& collection_;
  const Retention& retention_;
  const SweepOptions& options_;
  std::int64_t oldest_kept_ = std::numeric_limits<std::int64_t>::min();
  std::size_t notes_ = 0, bytes_ = 0;  ///< what the collection holds
  SweepReport report_;
};

}  // namespace

Result<SweepReport> sweep(DatabaseClient& memory, const std::string& collection, const Retention& retention,
                          const SweepOptions& options) {
  return Sweep(memory, collection, retention, options).run();
}

}  // namespace praxis
