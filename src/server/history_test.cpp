// Long runs: their events from the end backwards, their conversation by pages, summaries that stay short.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "journal/testing/forwarding_journal.hpp"
#include "server/event_feed.hpp"
#include "server/folds.hpp"
#include "server/projection.hpp"
#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using testing::Answer;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::kAnna;
using testing::kOwner;
using testing::Sent;
using testing::ServerTest;

constexpr std::size_t kCalls = 210;

class ServedHistory : public ServerTest {
 protected:
  /// A run of an agent that calls `kv` many times at once.
  std::string long_run() {
    std::string calls;
    for (std::size_t i = 0; i < kCalls; ++i) {
      calls += (i == 0 ? "" : ",") + std::string(R"({"name":"kv","arguments":{"op":"put","key":"k)") +
               std::to_string(i) + R"(","value":"v"}})";
    }
    script("many", R"({"text":"All.","tool_calls":[)" + calls + "]}\n{\"text\":\"Done.\"}");
    agent("many", "[tools.kv]\n");
    start();
    const std::string run = create("many");
    wait_for(run, "completed");
    return run;
  }
  Json history(const std::string& run, const std::string& query) const {
    const Answer answer = call("GET", "/api/v1/runs/" + run + "/history?" + query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.json;
  }
  static std::vector<std::string> ids_of(const Json& page) {
    std::vector<std::string> ids;
    for (const Json& event : json_at(page, "events").as_array()) ids.push_back(json_string(event, "id"));
    return ids;
  }
  /// A run that has answers for two turns and begins the first.
  std::string run_of_two() {
    script("chat", "{\"text\":\"Hello there.\",\"chunk\":4}\n{\"text\":\"And again.\"}");
    start();
    return create("chat");
  }
  /// The events of a run that a record holds, as the stream has them.
  std::vector<Sent> streamed(const std::string& run, const std::string& after = {}) const {
    auto all = stream("/api/v1/runs/" + run + "/events?deltas=false", "turn.completed", after);
    std::erase_if(all, [](const Sent& sent) { return sent.id.empty(); });
    return all;
  }
};

TEST_F(ServedHistory, PagesFromTheEndAreTheStream) {
  const std::string run = long_run();
  std::vector<Sent> expected = streamed(run);
  JsonObject end = parse_json(expected.back().data).value().as_object();
  end.stable_erase("result");
  expected.back().data = to_json_text(end);
  std::vector<Sent> seen;
  std::string before;
  for (bool has_earlier = true; has_earlier;) {
    const Json page = history(run, "limit=37" + (before.empty() ? "" : "&before=" + before));
    std::vector<Sent> events;
    for (const Json& each : json_at(page, "events").as_array()) {
      JsonObject data = each.as_object();
      data.stable_erase("id");
      if (Json* result = data.if_contains("result")) {
        EXPECT_EQ(json_int(json_at(*result, "left_out"), "actions"), 10) << "results are summaries";
        data.stable_erase("result");
      }
      events.push_back({json_string(each, "id"), json_string(each, "event"), to_json_text(data)});
    }
    ASSERT_FALSE(events.empty()) << before;
    before = events.front().id;
    seen.insert(seen.begin(), events.begin(), events.end());
    has_earlier = json_bool(page, "has_earlier");
    EXPECT_EQ(json_at(page, "agents").as_array().size(), has_earlier ? 1U : 0U)
        << "the agent is described as it was before the page, if it existed";
  }
  EXPECT_EQ(seen, expected);
}

TEST_F(ServedHistory, AgentIsDescribedAsItWasBeforeItsFirstEvent) {
  const std::string run = long_run();
  const Json end = history(run, "limit=2");
  const Json& node = json_at(end, "agents").at(0);
  EXPECT_EQ(json_string(node, "status"), "running") << "before the last records the turn was open";
  EXPECT_EQ(json_string(node, "content"), "hi");
  EXPECT_GT(json_int(json_at(json_at(node, "usage"), "self"), "total"), 0);
  EXPECT_EQ(json_string(end, "run_id"), run);
}

TEST_F(ServedHistory, StreamContinuesWhereTheLastPageEnds) {
  const std::string run = run_of_two();
  wait_for(run, "completed");
  const Json page = history(run, "limit=1000");
  EXPECT_FALSE(json_bool(page, "has_earlier"));
  EXPECT_THAT(json_at(page, "agents").as_array(), IsEmpty());
  ASSERT_EQ(call("POST", "/api/v1/runs/" + run + "/messages", R"({"prompt":"again"})").status, 202);
  const std::vector<Sent> live = streamed(run, json_string(page, "last_event_id"));
  std::vector<std::string> ids = ids_of(page);
  for (const Sent& sent : live) ids.push_back(sent.id);
  const Json whole = history(run, "limit=1000");
  EXPECT_EQ(ids, ids_of(whole));
}

TEST_F(ServedHistory, SeesOnlyWhatTheTokenSees) {
  start();
  const std::string run = create("chat");
  wait_for(run, "completed");
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run + "/history", "", kAnna).status, 404);
  for (const char* query : {"before=x", "limit=5001", "limit=x", "event=a.*.b"})
    EXPECT_EQ(call("GET", "/api/v1/runs/" + run + "/history?" + query).status, 400) << query;
  const Json none = history(run, "limit=0");
  EXPECT_THAT(json_at(none, "events").as_array(), IsEmpty());
  EXPECT_TRUE(json_bool(none, "has_earlier"));
  EXPECT_THAT(ids_of(history(run, "event=turn.completed")), ::testing::SizeIs(1));
}

TEST_F(ServedHistory, ConversationByPagesIsTheConversation) {
  const std::string run = long_run();
  const auto page = [&](const std::string& query) {
    const Answer answer = call("GET", "/api/v1/runs/" + run + "/messages?" + query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.json;
  };
  const Json whole = page("limit=5000");
  EXPECT_TRUE(json_at(whole, "next").is_null());
  JsonArray items;
  std::int64_t from = 1;
  while (true) {
    const Json part = page("limit=9&from=" + std::to_string(from));
    for (const Json& item : json_at(part, "items").as_array()) items.push_back(item);
    if (json_at(part, "next").is_null()) break;
    EXPECT_EQ(json_int(part, "next"), from + 9);
    from += 9;
  }
  EXPECT_EQ(Json(items), json_at(whole, "items"));
  EXPECT_THAT(json_at(page("from=999999"), "items").as_array(), IsEmpty());
}

TEST_F(ServedHistory, RunIsASummaryUnlessItIsAskedForWhole) {
  const std::string run = "/api/v1/runs/" + long_run();
  const Json brief = call("GET", run).json, whole = call("GET", run + "?whole=true").json;
  EXPECT_EQ(json_at(whole, "actions").as_array().size(), kCalls);
  ASSERT_EQ(json_at(brief, "actions").as_array().size(), 200U);
  EXPECT_EQ(json_at(brief, "actions").at(199), json_at(whole, "actions").at(kCalls - 1)) << "the last ones";
  EXPECT_EQ(json_int(json_at(brief, "left_out"), "actions"), 10);
  EXPECT_EQ(whole.as_object().if_contains("left_out"), nullptr);
}

TEST_F(ServedHistory, AnswersOfRunsThatWereReadBeforeAreUpToDate) {
  const std::string run = run_of_two();
  const std::int64_t before = json_int(wait_for(run, "completed").json, "records");
  const auto messages = [&] {
    return json_at(call("GET", "/agent/" + run).json, "messages").as_array().size();
  };
  EXPECT_EQ(messages(), 2U);
  const Json last = history(run, "limit=0").at("last_event_id");
  ASSERT_EQ(call("POST", "/api/v1/runs/" + run + "/messages", R"({"prompt":"again"})").status, 202);
  streamed(run, last.as_string().c_str());
  wait_for(run, "completed");
  EXPECT_EQ(messages(), 4U);
  EXPECT_EQ(json_int(call("GET", "/api/v1/runs/" + run).json, "records"), 2 * before - 1);
}

/// Remembers from which records on logs were read.
class ReadsOfLogs final : public praxis::testing::ForwardingJournal {
 public:
  using ForwardingJournal::ForwardingJournal;
  Result<std::vector<Entry>> read(const SessionId& id, std::uint64_t from, std::size_t limit) override {
    reads.push_back(from);
    return ForwardingJournal::read(id, from, limit);
  }
  std::vector<std::uint64_t> reads;
};

TEST_F(ServedHistory, LogIsFoldedFromAKeptState) {
  const SessionId run(long_run());
  const auto journal = std::make_shared<ReadsOfLogs>(
      sqlite_journal((folder_ / "runs.db").string(), {.read_only = true}).value());
  const auto folds = std::make_shared<Folds>(journal, 100);
  const auto names = [&](const std::shared_ptr<Folds>& from) {
    Projection projection(journal, from);
    std::vector<std::string> all;
    for (std::uint64_t seq = 320; seq < 330; ++seq) {
      const auto events = projection.events_of(run, seq);
      EXPECT_TRUE(events) << events.error().message;
      for (const Event& event : events.value_or(std::vector<Event>{})) all.push_back(server_sent(event, {}));
    }
    return all;
  };
  const auto state = folds->last(run);
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(folds->last(run).value(), *state) << "kept";
  EXPECT_EQ(journal->reads, std::vector<std::uint64_t>{1});
  const auto from_kept = names(folds);
  EXPECT_EQ(journal->reads, (std::vector<std::uint64_t>{1, 301}));
  EXPECT_EQ(from_kept, names(nullptr));
  EXPECT_FALSE(from_kept.empty());
}

// ---- prompts and memory

TEST_F(ServedHistory, PromptsHaveVersionsAndLabels) {
  start();
  EXPECT_THAT(json_at(call("GET", "/api/v1/prompts").json, "prompts").as_array(), IsEmpty());
  auto workspace = app::open_workspace({.folder = "", .journal = (folder_ / "runs.db").string()});
  const auto store = app::open_prompts(workspace.value()).value();
  for (const char* text : {"Be brief.", "Be brief and kind."})
    ASSERT_TRUE(store->put({.id = "greet", .text = text}, "anna"));
  const Answer shown = call("GET", "/api/v1/prompts/greet");
  ASSERT_EQ(shown.status, 200) << shown.body;
  const JsonArray& versions = json_at(shown.json, "versions").as_array();
  ASSERT_EQ(versions.size(), 2U);
  EXPECT_EQ(json_string(versions.at(0), "text"), "Be brief.");
  EXPECT_EQ(json_string(versions.at(1), "created_by"), "anna");
  EXPECT_EQ(json_string(versions.at(1), "parent"), "1");
  const std::string labels = "/api/v1/prompts/greet/labels";
  EXPECT_EQ(call("POST", labels, R"({"label":"production","version":"1"})").status, 200);
  EXPECT_EQ(call("POST", labels, R"({"label":"1st","version":"1"})").text("field"), "label");
  EXPECT_EQ(call("POST", labels, R"({"label":"production","version":"7"})").status, 404);
  const Json row = json_at(call("GET", "/api/v1/prompts").json, "prompts").at(0);
  EXPECT_EQ(json_string(row, "version"), "2");
  EXPECT_EQ(to_json_text(json_at(row, "labels")), R"([{"label":"production","version":"1"}])");
  EXPECT_EQ(call("GET", "/api/v1/prompts/absent").status, 404);
  EXPECT_EQ(call("GET", "/api/v1/prompts/greet", "", kAnna).status, 403);
  EXPECT_EQ(call("POST", labels, R"({"label":"production","version":"2"})", kAnna).status, 403);
}

TEST_F(ServedHistory, SearchOfTheMemorySaysWhyItRanks) {
  start();
  EXPECT_THAT(json_at(call("GET", "/api/v1/memory?q=x").json, "collections").as_array(), IsEmpty());
  auto workspace = app::open_workspace({.folder = "", .journal = (folder_ / "runs.db").string()});
  const auto memory = app::open_memory(workspace.value(), MemoryUse::kCreate);
  ASSERT_TRUE(memory) << memory.error().message;
  ASSERT_TRUE(memory->database->write("notes", "a", "The harbour opens at nine."));
  ASSERT_TRUE(memory->database->write("notes", "b", "Nothing of that."));
  const Answer found = call("GET", "/api/v1/memory?q=harbour");
  ASSERT_EQ(found.status, 200) << found.body;
  const JsonArray& notes = json_at(found.json, "notes").as_array();
  ASSERT_EQ(notes.size(), 1U) << found.body;
  EXPECT_EQ(json_string(notes.at(0), "key"), "a");
  EXPECT_EQ(to_json_text(json_at(notes.at(0), "terms")), R"(["harbour"])");
  EXPECT_EQ(json_int(json_at(notes.at(0), "ranks"), "words"), 1);
  EXPECT_EQ(json_int(json_at(found.json, "collections").at(0), "notes"), 2);
  EXPECT_EQ(json_at(call("GET", "/api/v1/memory?collection=notes").json, "notes").as_array().size(), 2U);
  EXPECT_EQ(call("GET", "/api/v1/memory?collection=notes&limit=201").status, 400);
  EXPECT_EQ(call("GET", "/api/v1/memory", "", kAnna).status, 403);
}

// ---- what else a client relies on

TEST_F(ServedHistory, LastEventIdOfARunBeginsAfterWhatTheAnswerHolds) {
  const std::string run = run_of_two();
  wait_for(run, "completed");
  // That answer may have been made while the last records were written.
  const std::string after = call("GET", "/api/v1/runs/" + run).text("last_event_id");
  ASSERT_EQ(call("POST", "/api/v1/runs/" + run + "/messages", R"({"prompt":"again"})").status, 202);
  const auto events = streamed(run, after);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.front().event, "turn.started");
  EXPECT_EQ(json_string(parse_json(events.front().data).value(), "turn"), "t2")
      << "nothing of the turn before";
}

TEST_F(ServedHistory, RunIsResumableWhileItsTurnIsOpen) {
  asking_agent();
  start();
  const std::string run = create("ask");
  const Answer waiting = wait_for(run, "awaiting_user");
  EXPECT_EQ(json_at(waiting.json, "resumable"), Json(true));
  ASSERT_EQ(call("POST", "/api/v1/runs/" + run + "/steps/p1", R"({"decision":"allow"})").status, 200);
  EXPECT_EQ(json_at(wait_for(run, "completed").json, "resumable"), Json(false));
}

TEST_F(ServedHistory, TreeOfAllRunsShowsTheBusyOnes_OrTheLast_OrAll) {
  asking_agent();
  start();
  const auto nodes = [&](const std::string& query, std::string_view token = kOwner) {
    const Answer answer = call("GET", "/api/v1/tree" + query, "", token);
    std::vector<std::string> ids;
    for (const Json& node : json_at(answer.json, "nodes").as_array()) ids.push_back(json_string(node, "id"));
    return ids;
  };
  EXPECT_THAT(nodes(""), IsEmpty());
  const std::string first = create("chat");
  wait_for(first, "completed");
  EXPECT_THAT(nodes(""), ElementsAre(first)) << "the last one, if all are idle";
  const std::string busy = create("ask");
  wait_for(busy, "awaiting_user");
  EXPECT_THAT(nodes(""), ElementsAre(busy));
  EXPECT_THAT(nodes("?all=true"), ::testing::UnorderedElementsAre(first, busy));
  EXPECT_THAT(nodes("?all=true", kAnna), IsEmpty());
}

}  // namespace
}  // namespace praxis::server
