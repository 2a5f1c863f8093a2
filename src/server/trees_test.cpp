// The agent trees of runs: those of one agent, which share what was folded, and their short form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "journal/testing/forwarding_journal.hpp"
#include "server/folds.hpp"
#include "server/projection.hpp"
#include "server/testing/served.hpp"
#include "server/trees.hpp"

namespace praxis::server {
namespace {

using ::testing::ElementsAre;
using testing::ServerTest;

/// Counts the reads of logs.
class CountedReads final : public praxis::testing::ForwardingJournal {
 public:
  using ForwardingJournal::ForwardingJournal;
  Result<std::vector<Entry>> read(const SessionId& id, std::uint64_t from, std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    reads.push_back(from);
    return ForwardingJournal::read(id, from, limit);
  }
  std::vector<std::uint64_t> reads;

 private:
  std::mutex mutex_;  // guards `reads`
};

class ServedTrees : public ServerTest {
 protected:
  std::shared_ptr<CountedReads> journal() const {
    return std::make_shared<CountedReads>(
        sqlite_journal((folder_ / "runs.db").string(), {.read_only = true}).value());
  }
  /// What `Trees` shows of a run without any state that was kept, and what `JournalTree` shows of it.
  static void expect_same(const std::shared_ptr<Journal>& journal, const std::string& run) {
    Trees trees(journal, std::make_shared<Folds>(journal));
    JournalTree whole(journal, {.root = SessionId(run)});
    ASSERT_TRUE(whole.refresh());
    const auto shown = trees.of(SessionId(run));
    ASSERT_TRUE(shown) << shown.error().message;
    ASSERT_EQ(shown->size(), whole.nodes().size());
    for (std::size_t i = 0; i < shown->size(); ++i)
      EXPECT_EQ(to_json_text(to_json(shown->at(i))), to_json_text(to_json(whole.nodes().at(i))));
  }
  /// A run with a sub-agent that asks.
  std::string run_above_one_that_asks() {
    asking_agent();
    script("lead", R"({"text":"I ask.","tool_calls":[{"name":"ask","arguments":{"prompt":"Store it"}}]})"
                   "\n{\"text\":\"Done.\"}");
    agent("lead", "[agents.ask]\nfile = \"ask.toml\"\ndescription = \"Stores\"\n");
    start();
    const std::string run = create("lead");
    wait_for(run, "awaiting_user");
    return run;
  }
  JsonArray list(const std::string& path, const char* member) const {
    const auto answer = call("GET", path);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json_at(answer.json, member).as_array();
  }
};

TEST_F(ServedTrees, TreeOfOneAgentIsThatOfTheJournal) {
  asking_agent();
  start();
  const std::string done = create("chat"), asks = create("ask"), works = create("slow");
  wait_for(done, "completed");
  wait_for(asks, "awaiting_user");
  wait_for(works, "running");
  for (const std::string& run : {done, asks, works}) expect_same(journal(), run);
  server_.reset();
  expect_same(journal(), works);
  expect_same(journal(), asks);
}

TEST_F(ServedTrees, TreeOfSeveralAgentsIsThatOfTheJournal) {
  const std::string run = run_above_one_that_asks();
  expect_same(journal(), run);
}

TEST_F(ServedTrees, LogOfOneAgentIsNotReadAgainForItsTree) {
  script("chat", "{\"text\":\"Hello there.\"}\n{\"text\":\"And again.\"}");
  start();
  const std::string run = create("chat");
  const auto records = json_int(wait_for(run, "completed").json, "records");
  const auto counted = journal();
  const auto folds = std::make_shared<Folds>(counted);
  Trees trees(counted, folds);
  ASSERT_TRUE(folds->last(SessionId(run)));
  ASSERT_TRUE(trees.of(SessionId(run)));
  EXPECT_THAT(counted->reads, ElementsAre(1));
  ASSERT_EQ(call("POST", "/api/v1/runs/" + run + "/messages", R"({"prompt":"again"})").status, 202);
  wait_for(run, "completed");
  const auto nodes = trees.of(SessionId(run));
  ASSERT_TRUE(nodes);
  EXPECT_EQ(nodes->front().content, "again");
  EXPECT_THAT(counted->reads, ElementsAre(1, records + 1)) << "only what is new";
}

TEST_F(ServedTrees, LogIsFoldedOnceForAllWhoAskAtOnce) {
  std::string calls;
  for (int i = 0; i < 200; ++i)
    calls +=
        (i == 0 ? "" : ",") + std::string(R"({"name":"kv","arguments":{"op":"put","key":"k","value":"v"}})");
  script("many", R"({"text":"All.","tool_calls":[)" + calls + "]}\n{\"text\":\"Done.\"}");
  agent("many", "[tools.kv]\n");
  start();
  const SessionId run(create("many"));
  const auto records = static_cast<std::uint64_t>(json_int(wait_for(run.str(), "completed").json, "records"));
  ASSERT_GT(records, 400U);
  const auto counted = journal();
  const auto folds = std::make_shared<Folds>(counted, 300);
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < 4; ++i) all.emplace_back([&] { EXPECT_TRUE(folds->last(run)); });
  }
  Projection projection(counted, folds);
  EXPECT_TRUE(projection.events_of(run, records - 200));
  ASSERT_EQ(counted->reads.size(), 2U);
  EXPECT_EQ(counted->reads.front(), 1U);
  EXPECT_EQ(counted->reads.back(), records - 255) << "from the state that is kept near the end";
}

TEST_F(ServedTrees, LogThatNoStateIsKeptOfIsFoldedToItsEnd) {
  start();
  const SessionId run(create("chat"));
  const auto records = static_cast<std::uint64_t>(json_int(wait_for(run.str(), "completed").json, "records"));
  const auto counted = journal();
  const auto folds = std::make_shared<Folds>(counted, 2);
  EXPECT_TRUE(Projection(counted, folds).events_of(run, records));
  const auto before = counted->reads.size();
  EXPECT_TRUE(folds->last(run));
  EXPECT_TRUE(Trees(counted, folds).of(run));
  EXPECT_EQ(counted->reads.size(), before) << "its tree is there";
}

TEST_F(ServedTrees, RowsSayTheSameInShort) {
  const std::string run = run_above_one_that_asks(), at = "/api/v1/runs/" + run + "/tree";
  const JsonArray nodes = list(at, "nodes"), rows = list(at + "/rows", "rows");
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_EQ(nodes.size(), 2U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const char* same : {"id", "depth", "agent", "status", "content", "created", "updated"})
      EXPECT_EQ(json_at(rows[i], same), json_at(nodes[i], same)) << same;
    EXPECT_EQ(json_int(rows[i], "tokens"), json_int(json_at(json_at(nodes[i], "usage"), "self"), "total"));
    EXPECT_EQ(json_int(rows[i], "step"), json_int(nodes[i], "step"));
    for (const auto& [name, value] : rows[i].as_object()) {
      EXPECT_NE(value, Json("")) << name;
      EXPECT_FALSE(value.is_null()) << name;
    }
  }
  EXPECT_EQ(rows[0].as_object().if_contains("parent"), nullptr);
  EXPECT_EQ(rows[0].as_object().if_contains("pending"), nullptr);
  EXPECT_EQ(json_string(rows[1], "parent"), run);
  EXPECT_EQ(json_at(rows[1], "pending"), json_at(nodes[1], "pending"));
  EXPECT_LT(to_json_text(Json(rows)).size() * 3, to_json_text(Json(nodes)).size() * 2);
  EXPECT_EQ(call("GET", at + "/rows", "", testing::kAnna).status, 404);
}

TEST_F(ServedTrees, RowHasTheBeginningOfALongTask) {
  start();
  const std::string made = call("POST", "/api/v1/runs",
                                R"({"agent":"chat","prompt":")" + std::string(150, 'x') +
                                    std::string("\xC3\xA4\xC3\xA4\xC3\xA4") + std::string(100, 'y') + "\"}")
                               .text("id");
  wait_for(made, "completed");
  const std::string content = json_string(list("/api/v1/runs/" + made + "/tree/rows", "rows")[0], "content");
  EXPECT_EQ(content.size(), 200U);
  EXPECT_TRUE(content.starts_with(std::string(150, 'x')));
}

}  // namespace
}  // namespace praxis::server
