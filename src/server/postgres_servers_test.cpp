// Two servers on one PostgreSQL journal: what a client of one sees of a run that the other works on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <future>
#include <thread>
#include <utility>

#include "journal/testing/any_journal.hpp"
#include "journal/testing/postgres_server.hpp"
#include "praxis/journal/postgres_journal.hpp"
#include "server/testing/served.hpp"
#include "server/testing/waiting_model.hpp"

namespace praxis::server {
namespace {

using praxis::testing::append_now;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace testing;

class PostgresServers : public ServerTest {
 protected:
  void SetUp() override {
    PRAXIS_NEED_POSTGRES();
    address_ = praxis::testing::PostgresServer::shared()->new_schema();
  }
  ~PostgresServers() override { other_.reset(); }

  /// Starts both; calls go to the first.
  void start_both() {
    start_on(address_);
    turn_to_the_other();
    start_on(address_);
    turn_to_the_other();
  }
  /// Calls go to the other server from here on.
  void turn_to_the_other() { std::swap(server_, other_); }

  /// A run of the first server whose model is in the middle of its answer; calls go to the second one then.
  std::string begin_on_the_first(const std::string& policy = kExactEvents) {
    agent("live", policy, "compatible:m");
    start_both();
    const std::string run = create("live");
    turn_to_the_other();
    // The first server answers when the run is durable.
    EXPECT_EQ(call("GET", "/api/v1/runs/" + run).status, 200);
    return run;
  }
  /// The same for a chat of the AI SDK, whose client leaves.
  void begin_chat_on_the_first() {
    agent("live", kExactEvents, "compatible:m");
    start_both();
    RawClient client(server_->port());
    client.send(request("POST", "/api/ai/chat",
                        R"({"id":"c1","agent":"live","messages":[{"id":"m1","role":"user","parts":[)"
                        R"({"type":"text","text":"hi"}]}]})",
                        kOwner));
    client.read_until("there");
    turn_to_the_other();
  }
  void follow(RawClient& client, const std::string& run, const std::string& query = {}) const {
    client.send(request("GET", "/api/v1/runs/" + run + "/events" + query, {}, kOwner));
  }
  static std::string member(const Sent& sent, std::string_view key) {
    return json_string(parse_json(sent.data).value_or(nullptr), key);
  }
  /// The text of the deltas, and how often each event of the log came.
  struct Seen {
    std::string deltas;
    std::map<std::string, int> durable;
    int answers = 0;
  };
  static Seen seen_in(std::string_view stream) {
    Seen seen;
    for (const Sent& sent : events_in(stream)) {
      if (sent.event == "text.delta") seen.deltas += member(sent, "text");
      if (!sent.id.empty()) ++seen.durable[sent.id];
      if (sent.event == "assistant.text") ++seen.answers;
    }
    return seen;
  }

  std::string address_;
  std::unique_ptr<Server> other_;
};

TEST_F(PostgresServers, ReaderOfAnotherServerGetsTheDeltasBeforeTheStepEnds) {
  WaitingModel model;
  const std::string run = begin_on_the_first();
  RawClient client(server_->port());
  follow(client, run);
  EXPECT_THAT(client.read_until("there"), HasSubstr("event: text.delta"));
  model.end();
  const Seen seen = seen_in(client.read_until("event: turn.completed\n") + "\n\n");
  EXPECT_TRUE(std::string("Hello there.").starts_with(seen.deltas)) << seen.deltas;
  EXPECT_TRUE(seen.deltas.starts_with("Hello there")) << seen.deltas;
  EXPECT_EQ(seen.answers, 1);
  for (const auto& [id, count] : seen.durable) EXPECT_EQ(count, 1) << id;
}

TEST_F(PostgresServers, ReaderThatComesLateGetsTheAnswerSoFar) {
  WaitingModel model;
  const std::string run = begin_on_the_first();
  {
    RawClient early(server_->port());
    follow(early, run);
    early.read_until("there");
  }
  // Also when the first has gone, and what it had is forgotten.
  for (int round = 0; round < 2; ++round) {
    RawClient late(server_->port());
    follow(late, run, "?event=text.delta");
    std::string text;
    while (!text.contains("there") && late.read_more()) text = seen_in(late.read_until("")).deltas;
    EXPECT_EQ(text, "Hello there");
  }
  model.end();
  wait_for(run, "completed");
}

TEST_F(PostgresServers, ReaderSeesTheRunContinueWhenItsServerEndsInTheMiddleOfAnAnswer) {
  WaitingModel model;
  const std::string run = begin_on_the_first();
  RawClient client(server_->port());
  follow(client, run);
  client.read_until("there");
  other_.reset();
  client.read_until("event: session.recovered");
  model.end();
  const std::string all = client.read_until("event: turn.completed\n") + "\n\n";
  const Seen seen = seen_in(all);
  EXPECT_EQ(seen.answers, 1) << all;
  for (const auto& [id, count] : seen.durable) EXPECT_EQ(count, 1) << id;
  // After the record that takes back what the first had written, the answer begins again.
  const std::size_t again = all.find("event: session.recovered");
  EXPECT_EQ(seen_in(all.substr(0, again)).deltas, "Hello there");
  EXPECT_TRUE(std::string("Hello there.").starts_with(seen_in("\r\n\r\n" + all.substr(again)).deltas));
}

TEST_F(PostgresServers, ChatThatIsFollowedAgainOnAnotherServerHasTheWholeAnswerOnce) {
  WaitingModel model;
  begin_chat_on_the_first();
  RawClient client(server_->port());
  client.send(request("GET", "/api/ai/chat/c1/stream", {}, kOwner));
  EXPECT_THAT(client.read_until("there"), HasSubstr("text-delta"));
  model.end();
  std::string text;
  for (const Sent& sent : events_in(client.read_until("[DONE]\n\n"))) text += member(sent, "delta");
  EXPECT_EQ(text, "Hello there.");
}

TEST_F(PostgresServers, ChatTakesBackWhatAServerHadWrittenThatEnded) {
  WaitingModel model;
  begin_chat_on_the_first();
  RawClient client(server_->port());
  client.send(request("GET", "/api/ai/chat/c1/stream", {}, kOwner));
  client.read_until("there");
  other_.reset();
  client.read_until("reset-step");
  model.end();
  const std::string all = client.read_until("[DONE]\n\n");
  std::string text;
  for (const Sent& sent : events_in("\r\n\r\n" + all.substr(all.find('\n', all.find("reset-step")) + 1)))
    text += member(sent, "delta");
  EXPECT_EQ(text, "Hello there.") << all;
}

TEST_F(PostgresServers, DeltasOfAnotherServerAreRedacted) {
  std::string filler;  // so much that what could become a secret is decided
  for (int i = 0; i < 1000; ++i) filler += "word\\n";
  WaitingModel model({"The key is ", "ghp_16C7e42F292c69", "12E7710c838347Ae178B4a\\n", filler});
  const std::string run = begin_on_the_first("");
  RawClient client(server_->port());
  follow(client, run);
  client.read_until("[REDACTED:");
  EXPECT_THAT(client.read_until(""), Not(HasSubstr("event: assistant.text"))) << "a delta";
  model.end();
  const std::string all = client.read_until("event: turn.completed\n");
  EXPECT_THAT(all, HasSubstr("[REDACTED:"));
  EXPECT_THAT(all, Not(HasSubstr("292c69")));
  EXPECT_THAT(all, Not(HasSubstr("838347Ae")));
}

TEST_F(PostgresServers, ResponsesOfOneConversationBeginOneByOneOnBothServers) {
  std::string lines;
  for (int i = 0; i < 40; ++i) lines += "{\"text\":\"Hello there.\"}\n";
  script("chat", lines);
  start_both();
  const std::string id = call("POST", "/v1/conversations", "{}").text("id");
  const std::string body = R"({"model":"chat","conversation":")" + id + R"(","input":"a","instructions":")";
  const std::array ports{server_->port(), other_->port()};
  std::ptrdiff_t answered = 0;
  for (int round = 0; round < 4; ++round) {
    std::array<int, 4> statuses{};
    {
      std::vector<std::jthread> clients;
      for (std::size_t i = 0; i < statuses.size(); ++i) {
        clients.emplace_back([&, i] {
          RawClient client(ports[i % 2]);
          // Each a run of its own, because the instructions differ.
          const std::string own = body + std::to_string(round * 10 + static_cast<int>(i)) + "\"}";
          client.send(request("POST", "/v1/responses", own, kOwner, "Connection: close\r\n"));
          const std::string& answer = client.read_all();
          if (answer.size() > 12) statuses[i] = std::atoi(answer.substr(9, 3).c_str());
          EXPECT_THAT(statuses[i], ::testing::AnyOf(200, 409)) << answer;
        });
      }
    }
    answered += std::ranges::count(statuses, 200);
  }
  EXPECT_GE(answered, 4);
  const Answer items = call("GET", "/v1/conversations/" + id + "/items?limit=100");
  EXPECT_EQ(std::ssize(json_at(items.json, "data").as_array()), 2 * answered) << items.body;
}

TEST_F(PostgresServers, MetricsCountLeasesAppendsAndDeltas) {
  WaitingModel model;
  const std::string run = begin_on_the_first();
  const auto metric = [this](const std::string& name) {
    const std::string text = "\n" + call("GET", "/metrics").body;
    const std::size_t at = text.find("\n" + name + " ");
    return at == text.npos ? -1.0 : std::atof(text.c_str() + at + name.size() + 2);
  };
  RawClient client(server_->port());
  follow(client, run);
  client.read_until("there");
  EXPECT_GE(metric("praxis_relay_received_total"), 1);
  EXPECT_EQ(metric("praxis_journal_leases"), 0);
  EXPECT_EQ(metric("praxis_journal_takeovers_total"), 0);
  turn_to_the_other();
  EXPECT_EQ(metric("praxis_journal_leases"), 1);
  EXPECT_GE(metric("praxis_journal_append_seconds_count"), 1);
  EXPECT_EQ(metric("praxis_journal_append_seconds_bucket{le=\"+Inf\"}"),
            metric("praxis_journal_append_seconds_count"));
  EXPECT_GT(metric("praxis_journal_append_seconds_sum"), 0);
  EXPECT_EQ(metric("praxis_journal_appends_waiting"), 0);
  EXPECT_GE(metric("praxis_relay_sent_total"), 1);
  server_.reset();
  turn_to_the_other();
  client.read_until("event: session.recovered");
  EXPECT_EQ(metric("praxis_journal_leases"), 1);
  model.end();
  client.read_until("event: turn.completed\n");
}

TEST_F(PostgresServers, RunOfANewerProgramIsLeftToAnotherServerWithTheReason) {
  WaitingModel model;
  const std::string run = begin_on_the_first();
  other_.reset();
  server_.reset();
  // As a program of the next version would have written it.
  const auto journal = postgres_journal(address_);
  ASSERT_TRUE(journal);
  const SessionId later("01LATER");
  const Lease lease = *(*journal)->create(later, {1000});
  Append append{.lease = lease, .expected_seq = 0, .entries = {}, .blobs = {}, .row = {}};
  append.row.status = "running";
  append.entries.push_back({"session_created",
                            {1000},
                            R"({"version":99,"session":"01LATER","seed":1,"agent":{"id":"a","limits":{}}})"});
  ASSERT_TRUE(append_now(**journal, std::move(append)));
  (*journal)->release(lease);
  ServerOptions options;
  std::promise<std::string> warned;
  options.warn = [&, has_warned = false](const std::string& text) mutable {
    if (text.contains("01LATER") && !std::exchange(has_warned, true)) warned.set_value(text);
  };
  model.end();
  start_on(address_, std::move(options));
  auto warning = warned.get_future();
  ASSERT_EQ(warning.wait_for(std::chrono::minutes(1)), std::future_status::ready);
  EXPECT_THAT(warning.get(),
              ::testing::AllOf(HasSubstr("left to another server"), HasSubstr("format version 99")));
  wait_for(run, "completed");
  EXPECT_EQ((*journal)->read(later)->size(), 1U) << "unchanged";
  EXPECT_FALSE((*journal)->session(later)->held);
  server_.reset();
}

}  // namespace
}  // namespace praxis::server
