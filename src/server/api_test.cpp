// What the server answers about several runs: usage, payloads, comparisons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace testing;

class ServedApi : public ServerTest {
 protected:
  /// Finishes a run of an agent.
  std::string finished(const std::string& agent, std::string_view token = kOwner) const {
    const std::string run = create(agent, token);
    wait_for(run, "completed");
    return run;
  }
};

// ---- usage

TEST_F(ServedApi, UsageIsAddedUpByDayAgentAndModel) {
  script("priced", R"({"text":"Dear.","usage":{"input":1000,"output":200,"cost_usd":0.5}})");
  agent("priced", "");
  start();
  finished("priced");
  finished("priced");
  finished("chat");
  const Answer answer = call("GET", "/api/v1/usage");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const JsonArray& rows = json_at(answer.json, "rows").as_array();
  ASSERT_EQ(rows.size(), 2U) << answer.body;
  EXPECT_EQ(json_string(rows.at(0), "agent"), "chat");
  EXPECT_EQ(json_at(rows.at(0), "cost_usd"), Json(nullptr)) << "of a script no price is known";
  EXPECT_EQ(json_string(rows.at(1), "agent"), "priced");
  EXPECT_EQ(json_string(rows.at(1), "model"), "script:" + (folder_ / "priced.jsonl").string());
  EXPECT_EQ(json_string(rows.at(1), "day"), answer.text("until"));
  EXPECT_EQ(json_int(rows.at(1), "calls"), 2);
  EXPECT_EQ(json_int(json_at(rows.at(1), "usage"), "input"), 2000);
  EXPECT_EQ(json_at(rows.at(1), "cost_usd").to_number<double>(), 1.0);
  EXPECT_EQ(json_int(json_at(answer.json, "total"), "calls"), 3);
  EXPECT_EQ(json_at(json_at(answer.json, "total"), "cost_usd"), Json(nullptr));
  EXPECT_EQ(json_at(answer.json, "complete"), Json(true));
}

TEST_F(ServedApi, UsageTakesDaysAgentAndModel) {
  start();
  finished("chat");
  const auto rows = [&](const std::string& query) {
    const Answer answer = call("GET", "/api/v1/usage?" + query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json_at(answer.json, "rows").as_array().size();
  };
  EXPECT_EQ(rows("agent=chat"), 1U);
  EXPECT_EQ(rows("agent=other"), 0U);
  EXPECT_EQ(rows("model=other"), 0U);
  EXPECT_EQ(rows("from=2001-01-01&until=2001-01-31"), 0U);
  for (const char* query :
       {"from=yesterday", "from=2026-02-30", "from=2026-1-1", "until=2026-01-01T00:00:00Z",
        "from=2026-02-01&until=2026-01-01", "from=2020-01-01&until=2026-01-01"}) {
    const Answer answer = call("GET", std::string("/api/v1/usage?") + query);
    EXPECT_EQ(answer.status, 400) << query;
    EXPECT_THAT(answer.text("field"), ::testing::AnyOf("from", "until")) << query;
  }
}

TEST_F(ServedApi, UsageOfOthersIsNotCounted) {
  start();
  finished("chat", kAnna);
  const auto calls = [&](std::string_view token) {
    return json_int(json_at(call("GET", "/api/v1/usage", "", token).json, "total"), "calls");
  };
  EXPECT_EQ(calls(kAnna), 1);
  EXPECT_EQ(calls(kBert), 0);
  EXPECT_EQ(calls(kOwner), 1);
}

}  // namespace
}  // namespace praxis::server
