#include "journal/blob_sweep.hpp"

#include <cstdint>
#include <optional>

#include "journal/blob_sweep_loop.hpp"
#include "journal/chain.hpp"
#include "journal/sealed_values.hpp"

namespace praxis {
namespace {

constexpr std::int64_t kEntriesPerPage = 5000;

/// Marks what the entry of a row names. An entry that cannot be opened could name any blob.
Status mark_entry(Database& database, const Query& row, SweptBlobs& blobs) {
  const Sealer* sealer = database.sealer();
  if (sealer == nullptr) {
    blobs.mark_named_in(row.bytes(1));
    return {};
  }
  if (row.bytes(1).empty()) return {};  // of a removed session
  const SessionId session(row.text(2));
  const auto body =
      sealer->open(row.bytes(1), entry_place(session, row.number(3), {row.integer(4)}, row.bytes(5)));
  if (!body) return fail(untrusted_from(session, row.number(3)));
  blobs.mark_named_in(*body, [&](const Digest& digest) { return sealer->name_of(digest); });
  return {};
}

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
    Query query(
        database,
        "SELECT c.id, c.body, s.name, c.seq, c.time, c.kind FROM chain c LEFT JOIN sessions s ON s.id "
        "= c.session WHERE c.id > ?1 ORDER BY c.id LIMIT ?2",
        seen, kEntriesPerPage);
    auto row = query.next();
    for (; row && *row; row = query.next()) {
      if (auto marked = mark_entry(database, query, blobs); !marked) return fail(marked.error());
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
      swept.bytes += query.number(0) - (database.sealer() == nullptr ? 0 : Sealer::kOverhead);
    }
    return database.run("DELETE FROM blobs WHERE digest = ?1", digest);
  }
};

}  // namespace

Result<Swept> sweep_blobs(const WithDatabase& reading, const WithDatabase& writing) {
  return BlobSweep<SqliteBlobs>(reading, writing).run();
}

}  // namespace praxis
