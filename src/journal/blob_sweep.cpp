#include "journal/blob_sweep.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "journal/blob_names.hpp"

namespace praxis {
namespace {

constexpr std::int64_t kBatch = 65536;          ///< blobs that one pass over the entries judges
constexpr std::int64_t kEntriesPerRead = 5000;  ///< so that no reader keeps an old state of the file for long
constexpr std::size_t kRemovedAtOnce = 200;     ///< so that no other writer waits for long

/// A blob that no entry seen so far names.
struct Candidate {
  Digest digest;
  bool named = false;
};

/// Reads the digests of the next blobs after `after`, in order; all zero: from the first.
Result<std::vector<Candidate>> next_candidates(Database& database, const Digest& after, bool is_first) {
  std::vector<Candidate> candidates;
  Query query(database, "SELECT digest FROM blobs WHERE digest > ?1 OR ?2 ORDER BY digest LIMIT ?3", after,
              std::int64_t{is_first ? 1 : 0}, kBatch);
  auto row = query.next();
  for (; row && *row; row = query.next()) candidates.push_back({query.digest(0)});
  if (!row) return fail(std::move(row.error()));
  return candidates;
}

/// Marks the candidates that the entries after `seen` name, at most `limit` entries; returns the last id.
Result<std::int64_t> mark_named(Database& database, std::vector<Candidate>& candidates, std::int64_t seen,
                                std::int64_t limit) {
  const auto mark = [&](const Digest& digest) {
    const auto place = std::ranges::lower_bound(candidates, digest, {}, &Candidate::digest);
    if (place != candidates.end() && place->digest == digest) place->named = true;
  };
  Query query(database, "SELECT id, body FROM chain WHERE id > ?1 ORDER BY id LIMIT ?2", seen, limit);
  auto row = query.next();
  for (; row && *row; row = query.next()) {
    for_each_digest(query.bytes(1), mark);
    seen = query.integer(0);
  }
  if (!row) return fail(std::move(row.error()));
  return seen;
}

Status remove_blob(Database& database, const Digest& digest, Swept& swept) {
  {
    Query query(database, "SELECT length(bytes) FROM blobs WHERE digest = ?1", digest);
    const auto row = query.next();
    if (!row) return fail(row.error());
    if (!*row) return {};
    ++swept.blobs;
    swept.bytes += query.number(0);
  }
  return database.run("DELETE FROM blobs WHERE digest = ?1", digest);
}

/// Removes some of the candidates from `first` on that no entry names, also none of those after `seen`.
Result<std::size_t> remove_some(Database& database, std::vector<Candidate>& candidates, std::size_t first,
                                std::int64_t seen, Swept& swept) {
  if (auto marked = mark_named(database, candidates, seen, -1); !marked) return fail(marked.error());
  std::size_t removed = 0;
  for (; first < candidates.size() && removed < kRemovedAtOnce; ++first) {
    if (candidates[first].named) continue;
    if (auto gone = remove_blob(database, candidates[first].digest, swept); !gone) return fail(gone.error());
    ++removed;
  }
  return first;
}

class Sweep {
 public:
  Sweep(const WithDatabase& reading, const WithDatabase& writing) : reading_(reading), writing_(writing) {}

  Result<Swept> run() {
    Digest last;
    while (load(last) && !candidates_.empty()) {
      last = candidates_.back().digest;
      if (!judge() || !remove()) break;
      is_first_ = false;
    }
    if (!status_) return fail(status_.error());
    return swept_;
  }

 private:
  bool keep(Status status) {
    status_ = std::move(status);
    return status_.has_value();
  }

  bool load(const Digest& after) {
    return keep(reading_([&](Database& database) -> Status {
      auto next = next_candidates(database, after, is_first_);
      if (!next) return fail(next.error());
      candidates_ = *std::move(next);
      return {};
    }));
  }

  /// Marks what the entries name that are there now.
  bool judge() {
    seen_ = 0;
    for (std::int64_t before = -1; before != seen_;) {
      before = seen_;
      const bool read = keep(reading_([&](Database& database) -> Status {
        const auto last = mark_named(database, candidates_, before, kEntriesPerRead);
        if (!last) return fail(last.error());
        seen_ = *last;
        return {};
      }));
      if (!read) return false;
    }
    return true;
  }

  bool remove() {
    std::erase_if(candidates_, [](const Candidate& candidate) { return candidate.named; });
    for (std::size_t first = 0; first < candidates_.size();) {
      std::size_t next = first;
      Swept swept;
      const bool written = keep(writing_([&](Database& database) -> Status {
        swept = {};
        const auto done = remove_some(database, candidates_, first, seen_, swept);
        if (!done) return fail(done.error());
        next = *done;
        return {};
      }));
      if (!written) return false;
      first = next;
      swept_.blobs += swept.blobs;
      swept_.bytes += swept.bytes;
    }
    return true;
  }

  const WithDatabase& reading_;
  const WithDatabase& writing_;
  std::vector<Candidate> candidates_;  // sorted
  std::int64_t seen_ = 0;              // the last entry that was looked at
  bool is_first_ = true;
  Swept swept_;
  Status status_;
};

}  // namespace

Result<Swept> sweep_blobs(const WithDatabase& reading, const WithDatabase& writing) {
  return Sweep(reading, writing).run();
}

}  // namespace praxis
