// Removes the blobs of a PostgreSQL journal that no entry names.
#include <cstdint>
#include <optional>

#include "journal/blob_sweep_loop.hpp"
#include "journal/postgres_store.hpp"

namespace praxis {
namespace {

constexpr std::int64_t kEntriesPerPage = 2000;  // so that their bodies fit into memory

struct PostgresBlobs {
  using Connection = PostgresConnection;

  static Result<SweptBlobs> next_blobs(PostgresConnection& connection, const std::optional<Digest>& after,
                                       std::int64_t limit) {
    const auto rows = connection.run(
        "SELECT digest FROM praxis_blobs WHERE digest > $1 OR $2::bigint = 1 ORDER BY digest LIMIT $3",
        {after.value_or(Digest{}), std::int64_t{after ? 0 : 1}, limit});
    if (!rows) return fail(rows.error());
    SweptBlobs blobs;
    for (int i = 0; i < rows->size(); ++i) blobs.add(rows->digest(i, 0));
    return blobs;
  }

  static Result<std::uint64_t> mark_page(PostgresConnection& connection, SweptBlobs& blobs,
                                         std::uint64_t seen) {
    const auto rows = connection.run(
        "SELECT position, body FROM praxis_entries WHERE position > $1 ORDER BY position LIMIT $2",
        {seen, kEntriesPerPage});
    if (!rows) return fail(rows.error());
    for (int i = 0; i < rows->size(); ++i) {
      blobs.mark_named_in(rows->bytes(i, 1));
      seen = rows->number(i, 0);
    }
    return seen;
  }

  static Status block_appends(PostgresConnection& connection) {
    connection.send(kLockSweep);
    return connection.finish();
  }

  static Status remove_blob(PostgresConnection& connection, const Digest& digest, Swept& swept) {
    const auto gone = connection.run(
        "DELETE FROM praxis_blobs WHERE digest = $1 RETURNING length(bytes)::bigint", {digest});
    if (!gone) return fail(gone.error());
    if (gone->size() == 0) return {};
    ++swept.blobs;
    swept.bytes += gone->number(0, 0);
    return {};
  }
};

}  // namespace

Result<Swept> sweep_blobs(const WithPostgres& reading, const WithPostgres& writing) {
  return BlobSweep<PostgresBlobs>(reading, writing).run();
}

}  // namespace praxis
