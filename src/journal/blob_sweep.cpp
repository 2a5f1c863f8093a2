#include "journal/blob_sweep.hpp"

#include <cstdint>
#include <optional>

#include "journal/blob_sweep_loop.hpp"

namespace praxis {
namespace {

constexpr std::int64_t kEntriesPerPage = 5000;

struct SqliteBlobs {
  using Connection = Database;

  static Result<SweptBlobs> next_blobs(Database& database, const std::optional<Digest>& after,
                                       std::int64_t limit) {
    SweptBlobs blobs;
    const Digest from = after.value_or(Digest{});  // the query does not copy it
    Query query(database, "SELECT digest FROM blobs WHERE digest > ?1 OR ?2 ORDER BY digest LIMIT ?3", from,
                std::int64_t{after ? 0 : 1}, limit);
    auto row = query.next();
    for (; row && *row; row = query.next()) blobs.add(query.digest(0));
    if (!row) return fail(std::move(row.error()));
    return blobs;
  }

  static Result<std::uint64_t> mark_page(Database& database, SweptBlobs& blobs, std::uint64_t seen) {
    Query query(database, "SELECT id, body FROM chain WHERE id > ?1 ORDER BY id LIMIT ?2", seen,
                kEntriesPerPage);
    auto row = query.next();
    for (; row && *row; row = query.next()) {
      blobs.mark_named_in(query.bytes(1));
      seen = query.number(0);
    }
    if (!row) return fail(std::move(row.error()));
    return seen;
  }

  /// A transaction that writes is the only one.
  static Status block_appends(Database&) { return {}; }

  static Status remove_blob(Database& database, const Digest& digest, Swept& swept) {
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
};

}  // namespace

Result<Swept> sweep_blobs(const WithDatabase& reading, const WithDatabase& writing) {
  return BlobSweep<SqliteBlobs>(reading, writing).run();
}

}  // namespace praxis
