// What the server answers about several runs: usage, payloads, comparisons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::AllOf;
using testing::Answer;
using ::testing::HasSubstr;
using testing::kAnna;
using testing::kBert;
using testing::kOwner;
using testing::ServerTest;

class ServedApi : public ServerTest {
 protected:
  /// Finishes a run of an agent.
  std::string finished(const std::string& agent, std::string_view token = kOwner) const {
    const std::string run = create(agent, token);
    wait_for(run, "completed");
    return run;
  }
};

// ---- one run

TEST_F(ServedApi, ContextIsWhatFillsTheWindow) {
  start();
  const std::string path = "/api/v1/runs/" + finished("chat");
  const Answer answer = call("GET", path + "/context");
  ASSERT_EQ(answer.status, 200) << answer.body;
  std::int64_t sum = 0;
  for (const Json& part : json_at(answer.json, "parts").as_array()) sum += json_int(part, "tokens");
  EXPECT_GT(sum, 0);
  EXPECT_EQ(sum, json_int(answer.json, "used")) << answer.body;
  EXPECT_THAT(answer.body, AllOf(HasSubstr("\"part\":\"user\""), HasSubstr("\"part\":\"assistant\"")));
  EXPECT_EQ(call("GET", path + "/context", "", kAnna).status, 404);
}

TEST_F(ServedApi, MessageForAStepThatComesLateGetsATurn) {
  script("chat", "{\"text\":\"Hello there.\"}\n{\"text\":\"Late answer.\"}");
  start();
  const std::string run = finished("chat"), path = "/api/v1/runs/" + run;
  const std::string before = call("GET", path).text("last_event_id");
  EXPECT_EQ(call("POST", path + "/resume").status, 409);
  EXPECT_EQ(call("POST", path + "/commands", R"({"commands":[{"verb":"steer","text":"Too late"}]})").status,
            202);
  EXPECT_EQ(call("POST", path + "/resume").status, 202);
  EXPECT_FALSE(stream(path + "/events", "turn.completed", before).empty());
  wait_for(run, "completed");
  EXPECT_THAT(call("GET", path + "/messages").body, AllOf(HasSubstr("Too late"), HasSubstr("Late answer.")));
  EXPECT_EQ(call("POST", path + "/resume").status, 409) << "it was read";
}

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

TEST_F(ServedApi, UsageCountsWhatWasAddedToARunSince) {
  script("twice", "{\"text\":\"One.\"}\n{\"text\":\"Two.\"}");
  agent("twice", "");
  start();
  const auto calls = [&] { return json_int(json_at(call("GET", "/api/v1/usage").json, "total"), "calls"); };
  EXPECT_EQ(calls(), 0);
  const std::string run = finished("twice");
  EXPECT_EQ(calls(), 1);
  EXPECT_EQ(calls(), 1);
  ASSERT_EQ(call("POST", "/api/v1/runs/" + run + "/messages", R"({"prompt":"again"})").status, 202);
  wait_for(run, "completed");
  EXPECT_EQ(calls(), 2);
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

// ---- stats

TEST_F(ServedApi, StatsHaveATableForEachWord) {
  script("noting", R"({"tool_calls":[{"name":"kv","arguments":{"operation":"list"}}]})"
                   "\n"
                   R"({"text":"Done."})");
  agent("noting", "[tools.kv]\n[policy]\nallow = [\"kv\"]\n");
  start();
  finished("noting");
  finished("chat");
  const Answer answer = call("GET", "/api/v1/stats?by=all,agent,tool");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json_at(answer.json, "complete"), Json(true));
  const JsonArray& tables = json_at(answer.json, "tables").as_array();
  ASSERT_EQ(tables.size(), 3U) << answer.body;
  const auto rows = [&](std::size_t table) { return json_at(tables.at(table), "rows").as_array(); };
  ASSERT_EQ(rows(0).size(), 1U);
  EXPECT_EQ(json_int(rows(0).at(0), "turns"), 2);
  EXPECT_EQ(json_at(rows(0).at(0), "success_rate").to_number<double>(), 1.0);
  EXPECT_EQ(json_string(tables.at(1), "by"), "agent");
  ASSERT_EQ(rows(1).size(), 2U);
  EXPECT_EQ(json_string(rows(1).at(1), "name"), "noting");
  EXPECT_EQ(json_int(rows(1).at(1), "steps"), 2);
  ASSERT_EQ(rows(2).size(), 1U);
  EXPECT_EQ(json_string(rows(2).at(0), "name"), "kv");
  EXPECT_EQ(json_int(json_at(rows(2).at(0), "tool_calls"), "calls"), 1);
  const Answer before = call("GET", "/api/v1/stats?from=2001-01-01&until=2001-01-31");
  EXPECT_EQ(json_int(json_at(json_at(before.json, "tables").at(0), "rows").at(0), "turns"), 0);
}

TEST_F(ServedApi, StatsRefuseWordsThatTheyDoNotKnow) {
  start();
  for (const char* query : {"by=month", "by=agent,", "by=agent,agent", "by=%2C"}) {
    const Answer answer = call("GET", std::string("/api/v1/stats?") + query);
    EXPECT_EQ(answer.status, 400) << query;
    EXPECT_EQ(answer.text("field"), "by") << query;
  }
  EXPECT_EQ(call("GET", "/api/v1/stats?from=2026-02-30").text("field"), "from");
}

TEST_F(ServedApi, StatsOfOthersAreNotCounted) {
  start();
  finished("chat", kAnna);
  const auto turns = [&](std::string_view token) {
    const Answer answer = call("GET", "/api/v1/stats?by=tenant", "", token);
    const JsonArray& rows = json_at(json_at(answer.json, "tables").at(0), "rows").as_array();
    return rows.empty() ? 0 : json_int(rows.at(0), "turns");
  };
  EXPECT_EQ(turns(kAnna), 1);
  EXPECT_EQ(turns(kBert), 0);
  EXPECT_EQ(turns(kOwner), 1);
}

// ---- blobs

class ServedBlobs : public ServedApi {
 protected:
  /// Starts a run with a prompt that is stored as a blob; returns the path of that.
  std::string stored(const std::string& prompt, std::string_view token = kOwner) const {
    const Answer made =
        call("POST", "/api/v1/runs", to_json_text(JsonObject{{"agent", "chat"}, {"prompt", prompt}}), token);
    EXPECT_EQ(made.status, 201) << made.body;
    wait_for(made.text("id"), "completed");
    return "/api/v1/blobs/" + digest_of(prompt).hex();
  }
  const std::string prompt_ = std::string(20'000, 'a') + std::string(10'000, 'b');
};

TEST_F(ServedBlobs, PayloadOfARunIsGivenWholeAndInParts) {
  start();
  const std::string path = stored(prompt_);
  const Answer whole = call("GET", path);
  ASSERT_EQ(whole.status, 200) << whole.body;
  EXPECT_EQ(whole.body, prompt_);
  struct Case {
    const char* range;
    int status;
    std::size_t first, size;
  };
  for (const Case& c : {Case{"bytes=0-0", 206, 0, 1}, Case{"bytes=19999-20000", 206, 19'999, 2},
                        Case{"bytes=29999-", 206, 29'999, 1}, Case{"bytes=-2", 206, 29'998, 2},
                        Case{"bytes=29990-999999999", 206, 29'990, 10},
                        Case{"bytes=-999999999", 206, 0, 30'000}, Case{"bytes=5-4", 200, 0, 30'000},
                        Case{"bytes=0-1,3-4", 200, 0, 30'000}, Case{"lines=0-1", 200, 0, 30'000},
                        Case{"bytes=x-1", 200, 0, 30'000}, Case{"bytes=-", 200, 0, 30'000}}) {
    const Answer part = call("GET", path, "", kOwner, std::string("Range: ") + c.range + "\r\n");
    EXPECT_EQ(part.status, c.status) << c.range;
    EXPECT_EQ(part.body, prompt_.substr(c.first, c.size)) << c.range;
    const std::string place = "Content-Range: bytes " + std::to_string(c.first) + "-" +
                              std::to_string(c.first + c.size - 1) + "/30000";
    EXPECT_EQ(part.head.contains(place), c.status == 206) << c.range << '\n' << part.head;
  }
  for (const char* range : {"bytes=30000-", "bytes=30000-30001", "bytes=-0"}) {
    const Answer none = call("GET", path, "", kOwner, std::string("Range: ") + range + "\r\n");
    EXPECT_EQ(none.status, 416) << range;
    EXPECT_THAT(none.head, HasSubstr("Content-Range: bytes */30000"));
  }
}

TEST_F(ServedBlobs, AnswersAreKeptByTheirTagAndRunNowhere) {
  start();
  const std::string page = "<html><script>alert(1)</script>" + prompt_;
  const std::string path = stored(page);
  const Answer whole = call("GET", path);
  const std::string tag = "\"" + digest_of(page).hex() + "\"";
  EXPECT_THAT(whole.head, AllOf(HasSubstr("Content-Type: text/plain; charset=utf-8"),
                                HasSubstr("ETag: " + tag), HasSubstr("Content-Disposition: attachment"),
                                HasSubstr("X-Content-Type-Options: nosniff"),
                                HasSubstr("Content-Security-Policy: sandbox")));
  const Answer same = call("GET", path, "", kOwner, "If-None-Match: " + tag + "\r\n");
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.body, "");
  EXPECT_EQ(call("GET", path, "", kOwner, "Range: bytes=0-0\r\nIf-Range: \"other\"\r\n").status, 200);
  EXPECT_EQ(call("GET", path, "", kOwner, "Range: bytes=0-0\r\nIf-Range: " + tag + "\r\n").status, 206);
  const Answer head = call("HEAD", path);
  EXPECT_THAT(head.head, HasSubstr("Content-Length: " + std::to_string(page.size())));
  EXPECT_EQ(head.body, "");
}

TEST_F(ServedBlobs, OnlyPayloadsOfOnesOwnRunsAreGiven) {
  start();
  const std::string path = stored(prompt_, kAnna);
  EXPECT_EQ(call("GET", path, "", kBert).status, 404);
  EXPECT_EQ(call("GET", path, "", kAnna).status, 200);
  EXPECT_EQ(call("GET", path).status, 200) << "the owner sees all";
  const std::string same = stored(prompt_, kBert);
  EXPECT_EQ(same, path);
  EXPECT_EQ(call("GET", path, "", kBert).status, 200) << "now a run of Bert names it too";
  for (const std::string& name :
       {std::string("x"), std::string(64, '0'), digest_of("other").hex(), digest_of(prompt_).hex() + "0"})
    EXPECT_EQ(call("GET", "/api/v1/blobs/" + name).status, 404) << name;
}

// ---- comparing

TEST_F(ServedApi, ForkIsTheSameUpToWhereItParts) {
  script("chat", "{\"text\":\"One.\"}\n{\"text\":\"Two.\"}");
  start();
  const std::string run = finished("chat");
  const auto records = json_int(call("GET", "/api/v1/runs/" + run).json, "records");
  const std::string fork = call("POST", "/api/v1/runs/" + run + "/fork", "{}").text("id");
  const Answer same = call("GET", "/api/v1/runs/" + run + "/compare/" + fork);
  ASSERT_EQ(same.status, 200) << same.body;
  EXPECT_EQ(json_int(same.json, "common_records"), records) << same.body;
  const std::string turns = "/api/v1/runs/" + fork + "/events?event=turn.completed";
  const std::string first = stream(turns, "turn.completed").back().id;
  ASSERT_EQ(call("POST", "/api/v1/runs/" + fork + "/messages", R"({"prompt":"and?"})").status, 202);
  stream(turns, "turn.completed", first);
  const Answer parted = call("GET", "/api/v1/runs/" + run + "/compare/" + fork);
  EXPECT_EQ(json_int(parted.json, "common_records"), records);
  EXPECT_EQ(json_int(json_at(parted.json, "difference"), "seq"), records + 1);
  EXPECT_EQ(json_string(json_at(parted.json, "difference"), "first"), "end of the log");
  EXPECT_EQ(json_string(json_at(parted.json, "first"), "result"), "One.");
  EXPECT_EQ(json_int(json_at(parted.json, "first"), "turns"), 1);
}

TEST_F(ServedApi, RunsOfOneAgentDifferInTheirPrompts) {
  start();
  const std::string first = finished("chat"), second = finished("chat");
  EXPECT_EQ(json_at(call("GET", "/api/v1/runs/" + first + "/compare/" + second).json, "difference"),
            Json(nullptr))
      << "the same prompt and the same answer";
  const std::string other = call("POST", "/api/v1/runs", R"({"agent":"chat","prompt":"bye"})").text("id");
  wait_for(other, "completed");
  const Answer answer = call("GET", "/api/v1/runs/" + first + "/compare/" + other);
  EXPECT_EQ(json_string(json_at(answer.json, "difference"), "field"), "message") << answer.body;
  EXPECT_THAT(json_string(json_at(answer.json, "difference"), "second"), HasSubstr("bye"));
}

TEST_F(ServedApi, RunsOfOthersAreNotCompared) {
  start();
  const std::string mine = finished("chat", kAnna), other = finished("chat", kBert);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + mine + "/compare/" + other, "", kAnna).status, 404);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + other + "/compare/" + mine, "", kAnna).status, 404);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + mine + "/compare/" + mine, "", kAnna).status, 200);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + mine + "/compare/missing", "", kAnna).status, 404);
}

}  // namespace
}  // namespace praxis::server
