// The list of runs: its filters, and taking runs out of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using testing::Answer;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kAnna;
using testing::kBert;
using testing::ServerTest;

class ServedRunList : public ServerTest {
 protected:
  /// The titles of the runs that fit, joined.
  std::string titles(const std::string& query) const {
    const Answer answer = call("GET", "/api/v1/runs?" + query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    std::string all;
    for (const Json& run : json_at(answer.json, "runs").as_array()) all += json_string(run, "title") + " ";
    return all;
  }
  std::string run_of(const std::string& agent, const std::string& prompt) const {
    const Answer made =
        call("POST", "/api/v1/runs", R"({"agent":")" + agent + R"(","prompt":")" + prompt + R"("})");
    EXPECT_EQ(made.status, 201) << made.body;
    wait_for(made.text("id"), agent == "ask" ? "awaiting_user" : "completed");
    return made.text("id");
  }
  Answer remove(const std::string& run, std::string_view token = testing::kOwner) const {
    return call("DELETE", "/api/v1/runs/" + run, {}, token);
  }
};

TEST_F(ServedRunList, Filters_MustAllFit) {
  asking_agent();
  script("costly", R"({"text":"Costly.","usage":{"input":1000,"output":1000}})");
  agent("costly", "");
  start();
  run_of("chat", "first");
  const std::string costly = run_of("costly", "second");
  run_of("ask", "third");
  const auto journal = sqlite_journal((folder_ / "runs.db").string());
  ASSERT_TRUE(journal) << journal.error().message;
  ASSERT_TRUE((*journal)->label(SessionId(costly), {.name = "release", .add_tags = {"good"}}));

  EXPECT_EQ(titles(""), "third second first ");
  EXPECT_EQ(titles("agent=COSTLY"), "second ");
  EXPECT_EQ(titles("model=ask.jsonl"), "third ");
  EXPECT_EQ(titles("status=completed"), "second first ");
  EXPECT_EQ(titles("status=completed&agent=ask"), "");
  EXPECT_EQ(titles("tag=good"), "second ");
  EXPECT_EQ(titles("q=RELEASE"), "second ") << "the name";
  EXPECT_EQ(titles("q=" + costly), "second ");
  EXPECT_EQ(titles("from=2020-01-01"), "third second first ");
  EXPECT_EQ(titles("until=2020-01-01"), "");
  EXPECT_EQ(titles("from=2020-01-01T00:00:00Z&until=2999-01-01T00:00:00Z&limit=1"), "third ");
  EXPECT_EQ(titles("min_cost=1000"), "");
  EXPECT_EQ(titles("max_cost=1000&q=second"), "second ");
  EXPECT_EQ(titles("order=asc"), "first second third ");
  EXPECT_EQ(titles("order=desc&limit=2"), "third second ");
}

TEST_F(ServedRunList, LastPage_HasNoNext) {
  start();
  run_of("chat", "first");
  const std::string second = run_of("chat", "second");
  const Json page = call("GET", "/api/v1/runs?limit=1").json;
  EXPECT_EQ(json_string(page, "next"), second);
  const Json last = call("GET", "/api/v1/runs?limit=1&before=" + second).json;
  EXPECT_EQ(json_at(last, "runs").as_array().size(), 1U);
  EXPECT_TRUE(json_at(last, "next").is_null());
  // A run that does not fit makes no other page.
  EXPECT_TRUE(json_at(call("GET", "/api/v1/runs?limit=1&q=second").json, "next").is_null());
  const Json oldest = call("GET", "/api/v1/runs?limit=1&order=asc").json;
  EXPECT_EQ(titles("order=asc&before=" + json_string(oldest, "next")), "second ");
}

TEST_F(ServedRunList, WrongFilter_IsNamed) {
  start();
  for (const auto& [query, field] : std::map<std::string, std::string>{{"status=complete", "status"},
                                                                       {"from=yesterday", "from"},
                                                                       {"until=2026-02-30", "until"},
                                                                       {"min_cost=much", "min_cost"},
                                                                       {"order=up", "order"},
                                                                       {"max_cost=-1", "max_cost"}}) {
    const Answer answer = call("GET", "/api/v1/runs?" + query);
    EXPECT_EQ(answer.status, 400) << query << answer.body;
    EXPECT_EQ(answer.text("field"), field);
  }
  EXPECT_THAT(call("GET", "/api/v1/runs?status=complete").text("detail"), HasSubstr("did you mean"));
}

TEST_F(ServedRunList, ExportedRun_IsImportedByAnotherServer) {
  start();
  const std::string run = run_of("chat", "first");
  const Answer exported = call("GET", "/api/v1/runs/" + run + "/export");
  ASSERT_EQ(exported.status, 200);
  EXPECT_EQ(call("POST", "/api/v1/import", exported.body).status, 409) << "it is here";
  ASSERT_EQ(remove(run).status, 200);
  EXPECT_EQ(call("POST", "/api/v1/import", exported.body, kAnna).status, 403);
  const Answer imported = call("POST", "/api/v1/import", exported.body);
  ASSERT_EQ(imported.status, 201) << imported.body;
  EXPECT_EQ(imported.text("id"), run);
  EXPECT_TRUE(json_at(imported.json, "problem").is_null()) << imported.body;
  EXPECT_EQ(titles(""), "first ");
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run).text("result"), "Hello there.");
  EXPECT_EQ(call("POST", "/api/v1/runs/" + run + "/replay").json.at("identical"), Json(true));
  for (const std::string& wrong : {std::string(), std::string("{}"), exported.body.substr(0, 300)})
    EXPECT_EQ(call("POST", "/api/v1/import", wrong).status, 400) << wrong;
}

TEST_F(ServedRunList, Delete_RemovesAFinishedRunForGood) {
  start();
  const std::string run = run_of("chat", "first"), other = run_of("chat", "second");
  const Answer answer = remove(run);
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json_at(answer.json, "sessions"), Json(1));
  EXPECT_EQ(titles(""), "second ");
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run).status, 404);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run + "/tree").status, 404);
  EXPECT_EQ(remove(run).status, 404);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + other).status, 200);
}

TEST_F(ServedRunList, Delete_RefusesARunThatIsNotFinished) {
  asking_agent();
  start();
  const std::string works = create("slow"), waits = run_of("ask", "may I");
  for (const std::string& run : {works, waits}) {
    const Answer answer = remove(run);
    EXPECT_EQ(answer.status, 409) << answer.body;
    EXPECT_THAT(answer.text("detail"), HasSubstr("interrupt it before"));
    EXPECT_EQ(call("GET", "/api/v1/runs/" + run).status, 200);
  }
  // A refusal changes nothing: the run still waits for its decision.
  EXPECT_EQ(call("POST", "/api/v1/runs/" + waits + "/steps/p1", R"({"decision":"allow"})").status, 200);
  wait_for(waits, "completed");
  EXPECT_EQ(remove(waits).status, 200);
}

TEST_F(ServedRunList, Delete_IsForThoseWhoMaySeeTheRun) {
  start();
  const std::string run = create("chat", kAnna);
  wait_for(run, "completed");
  EXPECT_EQ(remove(run, kBert).status, 404);
  EXPECT_EQ(remove(run, kAnna).status, 200);
  EXPECT_THAT(titles(""), IsEmpty());
}

}  // namespace
}  // namespace praxis::server
