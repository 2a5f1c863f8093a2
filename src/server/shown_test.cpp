// What clients see of a run whose agent has filters at `shown` and at `export`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace testing;

constexpr std::string_view kAccount = "DE89370400440532013000";

class ServedShown : public ServerTest {
 protected:
  /// An agent that repeats the account in a call and in its answer; the filter stands at `point`.
  void leaking_agent(const std::string& point, const std::string& more = {}) {
    const JsonObject put{{"name", "kv"},
                         {"arguments", JsonObject{{"op", "put"}, {"key", "k"}, {"value", kAccount}}}};
    script("pay", to_json_text(JsonObject{{"tool_calls", JsonArray{put}}}) + "\n" +
                      to_json_text(JsonObject{{"text", "It is " + std::string(kAccount) + "." + more}}));
    agent("pay", "[tools.kv]\n[policy]\nallow = [\"kv\"]\n[[policy.filters]]\nid = \"iban\"\nat = \"" +
                     point + "\"\nmatches = \"DE[0-9]{20}\"\naction = \"redact\"\n");
  }
  /// A run of that agent that has ended.
  std::string ended_run() const {
    const JsonObject wanted{{"agent", "pay"}, {"prompt", "Pay to " + std::string(kAccount)}};
    const std::string run = call("POST", "/api/v1/runs", to_json_text(wanted)).text("id");
    wait_for(run, "completed");
    return run;
  }
};

MATCHER(IsFiltered, "") {
  *result_listener << arg.status << ' ' << arg.body;
  return arg.status == 200 && !arg.body.contains(kAccount) && arg.body.contains("[REDACTED:iban]");
}

TEST_F(ServedShown, AllViewsOfARun_PassTheFilters) {
  leaking_agent("shown");
  start();
  const std::string run = ended_run(), other = ended_run();
  const std::string path = "/api/v1/runs/" + run;
  for (const char* view : {"", "/messages", "/records", "/history", "/tree"})
    EXPECT_THAT(call("GET", path + view), IsFiltered()) << view;
  EXPECT_THAT(call("GET", "/api/v1/runs"), IsFiltered()) << "the title";
  EXPECT_THAT(call("GET", path + "/compare/" + other), IsFiltered());
  std::string events;
  for (const Sent& each : stream(path + "/events", "turn.completed")) events += each.data;
  EXPECT_THAT(events, AllOf(Not(HasSubstr(kAccount)), HasSubstr("[REDACTED:iban]")));
}

/// Texts are cut for titles (80 bytes), rows (200) and nodes (4,096).
TEST_F(ServedShown, MatchThatACutWouldHalve_IsNotShown) {
  const std::string secret = "qvxzqvxzqvxzqvxzqvxz";
  agent("pay",
        "[[policy.filters]]\nid = \"word\"\nat = \"shown\"\nmatches = \"(qvxz){5}\"\naction = \"redact\"\n",
        "script:" + (folder_ / "chat.jsonl").string());
  start();
  const auto prompt_of = [&](std::size_t cut, std::size_t before) {
    return std::string(cut - before, 'x') + secret + std::string(100, 'y');
  };
  const auto begin = [&](const std::string& name, const std::string& prompt) {
    const std::string run =
        call("POST", "/api/v1/runs", to_json_text(JsonObject{{"agent", name}, {"prompt", prompt}}))
            .text("id");
    wait_for(run, "completed");
    return "/api/v1/runs/" + run;
  };
  for (const std::size_t cut : {80U, 200U, 4'096U}) {
    for (std::size_t before = 3; before <= secret.size() + 1; ++before) {
      const std::string path = begin("pay", prompt_of(cut, before));
      for (const std::string& view : {path + "/tree", path + "/tree/rows", path + "/history",
                                      std::string("/api/v1/tree"), std::string("/api/v1/runs?limit=1"), path})
        EXPECT_THAT(call("GET", view).body, Not(HasSubstr("qvx"))) << view << ' ' << cut << '-' << before;
      std::string events;
      for (const Sent& each : stream(path + "/events", "turn.completed")) events += each.data;
      EXPECT_THAT(events, Not(HasSubstr("qvx"))) << cut << '-' << before;
    }
  }
  // A filter that came after the run.
  std::vector<std::string> paths;
  for (std::size_t before = 3; before <= secret.size() + 1; ++before)
    paths.push_back(begin("chat", prompt_of(4'096, before)));
  std::ofstream(folder_ / "config/praxis/config.toml")
      << "[[policy.filters]]\nid = \"late\"\nat = \"shown\"\nmatches = \"(qvxz){5}\"\naction = \"redact\"\n";
  restart();
  for (const std::string& path : paths) {
    EXPECT_THAT(call("GET", path + "/tree").body, Not(HasSubstr("qvx"))) << path;
  }
}

TEST_F(ServedShown, LogOfTheRun_StaysWholeForReplayAndExport) {
  leaking_agent("shown");
  start();
  const std::string path = "/api/v1/runs/" + ended_run();
  EXPECT_THAT(call("POST", path + "/replay").body, HasSubstr("\"identical\":true"));
  EXPECT_THAT(call("GET", path + "/export").body, HasSubstr(kAccount));
}

TEST_F(ServedShown, PayloadsThatARecordNames_AreFilteredInTheRecordAndByTheirDigest) {
  const std::string filler(20'000, 'x');
  leaking_agent("shown", filler);
  start();
  const std::string run = ended_run();
  const Answer records = call("GET", "/api/v1/runs/" + run + "/records");
  EXPECT_THAT(records, IsFiltered());
  EXPECT_THAT(records.body, HasSubstr(filler)) << "nothing is stored of what a filter leaves";
  const std::string payload = "It is " + std::string(kAccount) + "." + filler;
  EXPECT_THAT(call("GET", "/api/v1/blobs/" + digest_of(payload).hex()), IsFiltered());
}

TEST_F(ServedShown, ProtocolsOfOtherPrograms_PassTheFilters) {
  leaking_agent("shown");
  start();
  const Answer chat =
      call("POST", "/v1/chat/completions", R"({"model":"pay","messages":[{"role":"user","content":"Go"}]})");
  EXPECT_THAT(chat, IsFiltered());
  const Answer response =
      call("POST", "/v1/responses", R"({"model":"pay","input":"Pay )" + std::string(kAccount) + "\"}");
  EXPECT_THAT(response, IsFiltered());
  const std::string path = "/v1/responses/" + response.text("id");
  EXPECT_THAT(call("GET", path), IsFiltered());
  EXPECT_THAT(call("GET", path + "/input_items"), IsFiltered());
}

TEST_F(ServedShown, ExactExport_IsRefusedIfAFilterAtExportWouldChangeIt) {
  leaking_agent("export");
  start();
  const std::string path = "/api/v1/runs/" + ended_run();
  const Answer refused = call("GET", path + "/export");
  EXPECT_EQ(refused.status, 403) << refused.body;
  EXPECT_THAT(refused.text("detail"), HasSubstr("a filter at \"export\" would change them"));
  EXPECT_THAT(call("GET", path + "/records").body, HasSubstr(kAccount)) << "they are shown, not exported";
}

}  // namespace
}  // namespace praxis::server
