// A client learns that its message was taken when the message is durable, and not before.
#include "server/acknowledgements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/runs.hpp"
#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace testing;
using namespace std::chrono_literals;

/// Another connection to the journal of the server.
class OtherConnection {
 public:
  explicit OtherConnection(const std::filesystem::path& journal) {
    EXPECT_EQ(sqlite3_open(journal.c_str(), &connection_), SQLITE_OK);
    EXPECT_EQ(sqlite3_busy_timeout(connection_, 10'000), SQLITE_OK);
  }
  OtherConnection(const OtherConnection&) = delete;
  OtherConnection& operator=(const OtherConnection&) = delete;
  ~OtherConnection() { sqlite3_close(connection_); }

  void run(const char* sql) {
    EXPECT_EQ(sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(connection_);
  }

 private:
  sqlite3* connection_ = nullptr;
};

class AcknowledgedTurns : public ServerTest {
 protected:
  void start_with(std::chrono::milliseconds patience) {
    ServerOptions options;
    options.patience = patience;
    start(std::move(options));
  }
  /// Lets no append to the journal succeed from now on.
  void refuse_appends() {
    OtherConnection(folder_ / "runs.db")
        .run("CREATE TRIGGER refuse BEFORE INSERT ON chain BEGIN SELECT RAISE(ABORT, 'refused'); END");
  }
  std::unique_ptr<OtherConnection> lock() {
    auto connection = std::make_unique<OtherConnection>(folder_ / "runs.db");
    connection->run("BEGIN IMMEDIATE");
    return connection;
  }
  static std::string unlock(const std::unique_ptr<OtherConnection>& lock) {
    lock->run("ROLLBACK");
    return "";
  }
};

constexpr std::string_view kBody = R"({"agent":"chat","prompt":"hi"})";

TEST_F(AcknowledgedTurns, JournalThatFailsIsAnErrorOfTheServer) {
  start();
  const std::string run = create("chat");
  wait_for(run, "completed");
  refuse_appends();
  const Answer refused = call("POST", "/api/v1/runs", kBody);
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_THAT(refused.head, HasSubstr("application/problem+json"));
  EXPECT_THAT(refused.head, HasSubstr("Retry-After: "));
  EXPECT_THAT(refused.text("detail"), HasSubstr("the journal did not take the message"));
  EXPECT_EQ(call("POST", "/api/v1/runs/" + run + "/messages", R"({"prompt":"and?"})").status, 503);
  const Answer chat =
      call("POST", "/v1/chat/completions", R"({"model":"chat","messages":[{"role":"user","content":"hi"}]})");
  EXPECT_EQ(chat.status, 503) << chat.body;
  EXPECT_THAT(chat.body, HasSubstr(R"("type":"server_error")"));
  for (const char* more : {"", R"(,"stream":true)", R"(,"background":true)"}) {
    const Answer response =
        call("POST", "/v1/responses", R"({"model":"chat","input":"hi")" + std::string(more) + "}");
    EXPECT_EQ(response.status, 503) << response.body;
  }
  const std::string message = R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}})";
  constexpr std::string_view kVersion = "A2A-Version: 1.0\r\n";
  EXPECT_EQ(call("POST", "/a2a/chat/message:send", message, kOwner, kVersion).status, 503);
  const Answer rpc =
      call("POST", "/a2a/chat", R"({"jsonrpc":"2.0","id":7,"method":"SendMessage","params":)" + message + "}",
           kOwner, kVersion);
  EXPECT_THAT(rpc.body, AllOf(HasSubstr(R"("id":7)"), HasSubstr("the journal did not take the message")));
  EXPECT_EQ(call("GET", "/agent/stream?agent=chat&prompt=hi").status, 503);
}

TEST_F(AcknowledgedTurns, JournalThatDoesNotAnswerIsAnErrorAndTheTurnMayStillBegin) {
  start_with(100ms);
  const auto held = lock();
  const std::string key = "Idempotency-Key: k1\r\n";
  const Answer late = call("POST", "/api/v1/runs", kBody, kOwner, key);
  EXPECT_EQ(late.status, 503) << late.body;
  EXPECT_THAT(late.text("detail"), HasSubstr("its turn may still begin"));
  EXPECT_EQ(call("POST", "/api/v1/runs", kBody, kOwner, key).status, 503) << "still not in the journal";
  unlock(held);
  wait_for(Runs::id_of_key("owner", "k1").str(), "completed");
  const Answer again = call("POST", "/api/v1/runs", kBody, kOwner, key);
  EXPECT_EQ(again.status, 200) << again.body;
}

// The run goes on in this process, so a decision or command is a record of its own.
TEST_F(AcknowledgedTurns, DecisionsAndCommandsAreAnsweredOnceTheyAreDurable) {
  asking_agent();
  start_with(60s);
  const std::string asking = create("ask");
  wait_for(asking, "awaiting_user");
  std::vector<std::pair<std::string, std::string>> requests{
      {"/api/v1/runs/" + asking + "/steps/p1", R"({"decision":"allow"})"}};
  // Each to a run of its own: they reach the server in any order.
  for (const std::string verb : {"steer", "enqueue", "annotate", "pause", "unpause", "interrupt"}) {
    const std::string run = create("slow");
    wait_for(run, "running");
    const std::string commands = "/api/v1/runs/" + run + "/commands";
    const auto body = [](const std::string& act, const std::string& text) {
      return R"({"commands":[{"verb":")" + act + R"(","text":")" + text + R"("}]})";
    };
    if (verb == "unpause") {
      ASSERT_EQ(call("POST", commands, body("pause", "")).status, 202);
    }
    requests.emplace_back(commands, body(verb, verb == "steer" || verb == "enqueue" ? "go" : ""));
  }
  auto held = lock();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (const auto& [path, body] : requests) {
    clients.push_back(std::make_unique<RawClient>(server_->port()));
    clients.back()->send(request("POST", path, body, kOwner, "Connection: close\r\n"));
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(call("GET", "/healthz").status, 200);
  EXPECT_TRUE(std::ranges::all_of(clients, [](const auto& c) { return c->is_silent(); }));
  unlock(held);
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const std::string answer = clients[i]->read_all();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 20")) << requests[i].second << "\n" << answer;
  }
}

// Far more requests than workers.
TEST_F(AcknowledgedTurns, RequestsThatWaitForTheJournalTakeNoThread) {
  start_with(60s);
  auto held = lock();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 600; ++i) {
    clients.push_back(std::make_unique<RawClient>(server_->port()));
    clients.back()->send(
        request("POST", "/api/v1/runs", kBody, kOwner,
                i < 2 ? "Idempotency-Key: k1\r\nConnection: close\r\n" : "Connection: close\r\n"));
  }
  EXPECT_EQ(call("GET", "/healthz").status, 200);
  EXPECT_TRUE(std::ranges::all_of(clients, [](const auto& c) { return c->is_silent(); }));
  unlock(held);
  int made = 0, found = 0;
  for (const auto& client : clients) {
    const std::string answer = client->read_all();
    made += answer.starts_with("HTTP/1.1 201") ? 1 : 0;
    found += answer.starts_with("HTTP/1.1 200") ? 1 : 0;
  }
  EXPECT_EQ(made, 599);
  EXPECT_EQ(found, 1) << "the second request with the key waited for the first";
}

}  // namespace
}  // namespace praxis::server
