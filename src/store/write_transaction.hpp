// One transaction that writes, from its beginning to its end.
#pragma once

#include <tuple>

#include "store/sqlite.hpp"

namespace praxis {

/// Calls `work`, which gives a `Status`, in a transaction that no other process writes next to. Commits what
/// it did, or rolls it back if it or the commit fails. Errors: those of `work`, and of `Database::begin`.
template <class Work>
Status in_write_transaction(Database& database, Work work) {
  const auto turn = database.begin();
  if (!turn) return fail(turn.error());
  Status done = work();
  auto ended = database.run(done ? "COMMIT" : "ROLLBACK");
  if (done && !ended) std::ignore = database.run("ROLLBACK");
  return done ? ended : done;
}

}  // namespace praxis
