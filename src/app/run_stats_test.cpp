// Figures over many runs by the tenant that each belongs to.
#include "app/run_stats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "praxis/base/environment.hpp"
#include "runtime/testing/scripted.hpp"

namespace praxis::app {
namespace {

using ::testing::Field;
using ::testing::UnorderedElementsAre;

class RunStatsTest : public ::praxis::testing::Scripted {
 protected:
  void run(const Agent& agent, Json metadata) {
    auto session = runtime_->create_session(agent, std::move(metadata));
    ASSERT_TRUE(session) << session.error().message;
    const auto result = session->ask("go");
    ASSERT_TRUE(result) << result.error().message;
  }
};

auto of(const std::string& name, std::uint64_t turns) {
  return ::testing::AllOf(Field(&StatsRow::name, name), Field(&StatsRow::turns, turns));
}

TEST_F(RunStatsTest, SubAgent_CountsForTheTenantOfItsRun) {
  Agent lead = scripted(R"({"tool_calls": [{"name": "research", "arguments": {"prompt": "?"}}]})"
                        "\n"
                        R"({"text": "done"})");
  lead.id("lead").use(
      scripted(R"({"text": "Paris"})").id("helper").as_tool("research", "Looks something up"));
  run(lead, JsonObject{{kTenantOfRun, "acme"}});
  run(scripted(R"({"text": "done"})"), JsonObject{{kTenantOfRun, "other"}});
  run(scripted(R"({"text": "done"})"), nullptr);

  const UnixMillis end = system_environment()->now() + Millis{1};
  const auto report = run_stats(*journal_, {{StatsBy::kTenant}, {}, end}, Redactions());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->tables.at(0).rows, UnorderedElementsAre(of("acme", 2), of("other", 1), of("", 1)));
}

TEST_F(RunStatsTest, SeveralTables_AreThoseOfSeveralQuestions) {
  run(scripted(R"({"text": "done"})").id("one"), JsonObject{{kTenantOfRun, "acme"}});
  run(scripted(R"({"text": "done"})").id("two"), nullptr);
  const UnixMillis end = system_environment()->now() + Millis{1};
  const auto report = run_stats(
      *journal_, {{StatsBy::kAll, StatsBy::kAgent, StatsBy::kTenant, StatsBy::kTool}, {}, end}, Redactions());
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->tables.size(), 4U);
  EXPECT_THAT(report->tables[0].rows, UnorderedElementsAre(of("", 2)));
  EXPECT_THAT(report->tables[1].rows, UnorderedElementsAre(of("one", 1), of("two", 1)));
  EXPECT_THAT(report->tables[2].rows, UnorderedElementsAre(of("acme", 1), of("", 1)));
  EXPECT_THAT(report->tables[3].rows, ::testing::IsEmpty());
  for (const StatsTable& table : report->tables)
    EXPECT_EQ(stats_by_named(name_of(table.by)), std::optional(table.by));
  EXPECT_EQ(stats_by_named("month"), std::nullopt);
}

TEST_F(RunStatsTest, Names_AreAsTheFiltersOfTheirRunLeaveThem) {
  PolicyRules rules;
  rules.filters =
      JsonArray{JsonObject{{"id", "secret"}, {"at", "shown"}, {"matches", "heron"}, {"action", "redact"}}};
  run(scripted(R"({"text": "done"})").id("heron").policy(rules), nullptr);
  run(scripted(R"({"text": "done"})").id("heron-too"), nullptr);
  const UnixMillis end = system_environment()->now() + Millis{1};
  const auto report = run_stats(*journal_, {{StatsBy::kAgent}, {}, end}, Redactions());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->tables.at(0).rows,
              UnorderedElementsAre(of("[REDACTED:secret]", 1), of("heron-too", 1)));
}

}  // namespace
}  // namespace praxis::app
