// Two servers on one PostgreSQL journal: what a client of one sees of a run that the other works on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "journal/testing/postgres_server.hpp"
#include "server/testing/served.hpp"
#include "server/testing/waiting_model.hpp"

namespace praxis::server {
namespace {

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

}  // namespace
}  // namespace praxis::server
