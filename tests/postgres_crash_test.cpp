// Kills processes whose journal is a PostgreSQL database, at points of a run, and lets others resume it.
// PRAXIS_CRASH_ROUNDS is the number of kills at each kind of effect, 1000 for all.
#include <gtest/gtest.h>

#include "crash_cases.hpp"
#include "journal/testing/postgres_server.hpp"

namespace praxis::testing {
namespace {

TEST(PostgresKill, AtEachPoint_LosesAndRepeatsNothingSettled) {
  PRAXIS_NEED_POSTGRES();
  const char *const wanted = std::getenv("PRAXIS_CRASH_ROUNDS");
  const std::size_t most = wanted == nullptr ? 3 : static_cast<std::size_t>(std::atoi(wanted));
  for (const std::string kind : {"model", "idempotent", "once", "person"}) {
    const std::vector<Case> all = single_kills(kind);
    const std::size_t count = std::min(most, all.size());
    for (std::size_t i = 0; i < count; ++i) {
      const Case &c = all[i * all.size() / count];
      SCOPED_TRACE(c.name());
      EXPECT_EQ(play(c, PostgresServer::shared()->new_schema()), 1);
    }
  }
}

}  // namespace
}  // namespace praxis::testing
