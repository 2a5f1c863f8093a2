// Removes the blobs of a PostgreSQL journal that no entry names.
#include <algorithm>
#include <vector>

#include "journal/blob_names.hpp"
#include "journal/postgres_store.hpp"

namespace praxis {
namespace {

constexpr std::int64_t kBlobsPerPass = 65536;
constexpr std::int64_t kEntriesPerPage = 2000;  // so that their bodies fit into memory
constexpr std::size_t kBlobsPerRemoval = 200;   // so that no append waits for long

struct UnnamedBlob {
  Digest digest;
  bool named = false;
};

class PostgresSweep {
 public:
  PostgresSweep(const WithPostgres& reading, const WithPostgres& writing)
      : reading_(reading), writing_(writing) {}

  Result<Swept> run() {
    for (Digest last; load(last) && !blobs_.empty();) {
      last = blobs_.back().digest;
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
    return keep(reading_([&](PostgresConnection& connection) -> Status {
      blobs_.clear();
      const auto rows = connection.run(
          "SELECT digest FROM praxis_blobs WHERE digest > $1 OR $2::bigint = 1 ORDER BY digest LIMIT $3",
          {after, std::int64_t{is_first_ ? 1 : 0}, kBlobsPerPass});
      if (!rows) return fail(rows.error());
      for (int i = 0; i < rows->size(); ++i) blobs_.push_back({rows->digest(i, 0)});
      return {};
    }));
  }

  /// Marks the blobs that entries after `seen` name, up to one page; moves `seen`. False: there are no more.
  Result<bool> mark_page(PostgresConnection& connection, std::uint64_t& seen) {
    const auto rows = connection.run(
        "SELECT position, body FROM praxis_entries WHERE position > $1 ORDER BY position LIMIT $2",
        {seen, kEntriesPerPage});
    if (!rows) return fail(rows.error());
    for (int i = 0; i < rows->size(); ++i) {
      for_each_digest(rows->bytes(i, 1), [&](const Digest& digest) {
        const auto place = std::ranges::lower_bound(blobs_, digest, {}, &UnnamedBlob::digest);
        if (place != blobs_.end() && place->digest == digest) place->named = true;
      });
      seen = rows->number(i, 0);
    }
    return rows->size() == kEntriesPerPage;
  }

  bool judge() {
    seen_ = 0;
    for (bool more = true; more;) {
      const bool read = keep(reading_([&](PostgresConnection& connection) -> Status {
        const auto page = mark_page(connection, seen_);
        if (!page) return fail(page.error());
        more = *page;
        return {};
      }));
      if (!read) return false;
    }
    return true;
  }

  /// Looks at the entries of the meantime first: until the commit, no append can add one.
  bool remove() {
    std::erase_if(blobs_, [](const UnnamedBlob& blob) { return blob.named; });
    for (std::size_t first = 0; first < blobs_.size(); first += kBlobsPerRemoval) {
      Swept swept;
      const bool written = keep(writing_([&](PostgresConnection& connection) -> Status {
        swept = {};
        connection.send(kLockSweep);
        std::uint64_t seen = seen_;
        for (bool more = true; more;) {
          const auto page = mark_page(connection, seen);
          if (!page) return fail(page.error());
          more = *page;
        }
        return remove_some(connection, first, swept);
      }));
      if (!written) return false;
      swept_.blobs += swept.blobs;
      swept_.bytes += swept.bytes;
    }
    return true;
  }

  Status remove_some(PostgresConnection& connection, std::size_t first, Swept& swept) const {
    const std::size_t end = std::min(blobs_.size(), first + kBlobsPerRemoval);
    for (std::size_t i = first; i < end; ++i) {
      if (blobs_[i].named) continue;
      const auto gone = connection.run(
          "DELETE FROM praxis_blobs WHERE digest = $1 RETURNING length(bytes)::bigint", {blobs_[i].digest});
      if (!gone) return fail(gone.error());
      if (gone->size() == 0) continue;
      ++swept.blobs;
      swept.bytes += gone->number(0, 0);
    }
    return {};
  }

  const WithPostgres& reading_;
  const WithPostgres& writing_;
  std::vector<UnnamedBlob> blobs_;  // sorted
  std::uint64_t seen_ = 0;          // position of the last entry that was looked at
  bool is_first_ = true;
  Swept swept_;
  Status status_;
};

}  // namespace

Result<Swept> sweep_postgres(const WithPostgres& reading, const WithPostgres& writing) {
  return PostgresSweep(reading, writing).run();
}

}  // namespace praxis
