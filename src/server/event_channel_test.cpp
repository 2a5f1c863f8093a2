// Event streams over WebSocket: the same events with the same ids as server-sent events, for those who may
// see them.
#include "server/event_channel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "net/testing/web_socket_client.hpp"
#include "praxis/base/base64.hpp"
#include "server/testing/served.hpp"
#include "server/testing/waiting_model.hpp"

namespace praxis::server {
namespace {

using praxis::testing::WebSocketClient;
using testing::Answer;
using ::testing::HasSubstr;
using testing::kAnna;
using testing::kBert;
using testing::kExactEvents;
using testing::kOwner;
using ::testing::Not;
using testing::Sent;
using testing::ServerTest;
using ::testing::StartsWith;
using testing::WaitingModel;

class ServedSockets : public ServerTest {
 protected:
  static std::string authorization(std::string_view token) {
    return "Authorization: Bearer " + std::string(token) + "\r\n";
  }
  /// As a page sends it, which cannot set headers.
  static std::string protocols(std::string_view token) {
    std::string text = base64_encode(token);
    std::ranges::replace(text, '+', '-');
    std::ranges::replace(text, '/', '_');
    std::erase(text, '=');
    return "Sec-WebSocket-Protocol: praxis.v1, praxis.token." + text + "\r\n";
  }
  WebSocketClient connect(std::string_view path, const std::string& headers = authorization(kOwner)) const {
    return WebSocketClient(server_->port(), path, headers);
  }
  int status_of(std::string_view path, const std::string& headers) const {
    return std::atoi(connect(path, headers).head().substr(9, 3).c_str());
  }
  /// The events up to and with the first named `last`, as a stream of server-sent events shows them.
  static std::vector<Sent> events_of(WebSocketClient& client, const std::string& last) {
    std::vector<Sent> all;
    while (auto frame = client.next()) {
      if (frame->opcode != WebSocketClient::kText) break;
      const Json json = parse_json(frame->payload).value_or(nullptr);
      all.push_back(
          {json_string(json, "id"), json_string(json, "event"), to_json_text(json_at(json, "data"))});
      if (all.back().event == last) return all;
    }
    ADD_FAILURE() << last << " never came after " << all.size() << " events\n" << client.head();
    return all;
  }
  std::vector<Sent> events_at(std::string_view path, const std::string& last) const {
    auto client = connect(path);
    return events_of(client, last);
  }
};

TEST_F(ServedSockets, EventsAreThoseOfTheOtherStream) {
  start();
  const std::string run = create("chat");
  wait_for(run, "completed");
  const std::string path = "/api/v1/runs/" + run + "/events";
  auto client = connect(path);
  const auto events = events_of(client, "turn.completed");
  EXPECT_EQ(events, stream(path, "turn.completed"));
  EXPECT_THAT(client.head(), Not(HasSubstr("Sec-WebSocket-Protocol"))) << "none was offered";
  EXPECT_EQ(events_at("/api/v1/events?after=0", "turn.completed"), events);
  EXPECT_EQ(events_at(path + "?event=turn.*", "turn.completed").size(), 2U);
}

TEST_F(ServedSockets, LiveEventsArriveAsTheyHappen) {
  WaitingModel model;
  agent("live", kExactEvents, "compatible:m");
  start();
  auto all = connect("/api/v1/events?after=0");
  all.head();
  auto client = connect("/api/v1/runs/" + create("live") + "/events");
  auto events = events_of(client, "text.delta");
  model.end();
  for (Sent& sent : events_of(client, "turn.completed")) events.push_back(std::move(sent));
  std::string text;
  for (const Sent& sent : events) {
    if (sent.event == "text.delta") text += json_string(parse_json(sent.data).value(), "text");
  }
  EXPECT_EQ(text, "Hello there.");
  EXPECT_GE(events_of(all, "turn.completed").size(), 7U);
}

TEST_F(ServedSockets, SubscriberThatComesBackMissesNothingAndGetsNothingTwice) {
  start();
  const std::string run = create("chat");
  wait_for(run, "completed");
  const std::string path = "/api/v1/runs/" + run + "/events";
  const auto all = events_at(path, "turn.completed");
  ASSERT_GE(all.size(), 7U);
  for (int life = 0; life < 2; ++life) {
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      const std::vector<Sent> rest(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end());
      EXPECT_EQ(events_at(path + "?after=" + all[i].id, "turn.completed"), rest)
          << "after " << all[i].id << ", life " << life;
    }
    restart();
  }
}

TEST_F(ServedSockets, EndOfTheServerIsACloseWithAReason) {
  start();
  const std::string run = create("slow");
  auto client = connect("/api/v1/runs/" + run + "/events");
  events_of(client, "model.requested");
  server_->drain(std::chrono::milliseconds(0));
  std::optional<WebSocketClient::Frame> frame;
  do {
    frame = client.next();
  } while (frame && frame->opcode != WebSocketClient::kClose);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->code(), 1001);
  EXPECT_THAT(frame->payload, HasSubstr("come back with ?after=ID"));
  EXPECT_FALSE(client.next());
  EXPECT_TRUE(client.raw().closed());
}

TEST_F(ServedSockets, DesignStreamEndsWithTheTurn) {
  start();
  auto client = connect("/agent/stream?prompt=hi&agent=chat");
  std::string text, types;
  std::optional<WebSocketClient::Frame> frame;
  while ((frame = client.next()) && frame->opcode == WebSocketClient::kText) {
    const Json chunk = parse_json(frame->payload).value();
    if (json_string(chunk, "type") == "text-delta") text += json_string(chunk, "textDelta");
    types += json_string(chunk, "type") + " ";
  }
  EXPECT_EQ(text, "Hello there.");
  EXPECT_THAT(types, StartsWith("agent-state "));
  EXPECT_THAT(types, HasSubstr("finish"));
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->code(), 1000);
}

// ---- who may

TEST_F(ServedSockets, TokenTravelsInAHeaderOrAmongTheProtocols) {
  start();
  const std::string run = create("chat", kAnna);
  const std::string path = "/api/v1/runs/" + run + "/events";
  EXPECT_EQ(status_of(path, authorization(kAnna)), 101);
  EXPECT_EQ(status_of(path, protocols(kAnna)), 101);
  EXPECT_THAT(connect(path, protocols(kAnna)).head(), HasSubstr("Sec-WebSocket-Protocol: praxis.v1\r\n"))
      << "and not the token";
  EXPECT_EQ(status_of(path, ""), 401);
  EXPECT_EQ(status_of(path, protocols("wrong-token-of-the-tests")), 401);
  EXPECT_EQ(status_of(path + "?token=" + std::string(kAnna), ""), 401) << "never in the address";
  EXPECT_EQ(status_of(path, "Authorization: Basic x\r\n" + protocols(kAnna)), 401);
  EXPECT_EQ(call("GET", path, "", "", protocols(kAnna)).status, 401) << "without an upgrade it is no token";
}

TEST_F(ServedSockets, TenantsSeeNothingOfEachOther) {
  start();
  const std::string run = create("chat", kAnna);
  wait_for(run, "completed");
  EXPECT_EQ(status_of("/api/v1/runs/" + run + "/events", protocols(kBert)), 404);
  const std::string own = create("chat", kBert);
  auto client = connect("/api/v1/events?after=0", protocols(kBert));
  for (const Sent& sent : events_of(client, "turn.completed")) EXPECT_THAT(sent.data, HasSubstr(own));
}

TEST_F(ServedSockets, OtherOriginsAreRefused) {
  ServerOptions options;
  options.access.origins = {"https://friend.example"};
  start(std::move(options));
  const auto from = [&](const std::string& origin) {
    return status_of("/api/v1/events", "Origin: " + origin + "\r\n" + protocols(kOwner));
  };
  EXPECT_EQ(from("https://evil.example"), 403);
  EXPECT_EQ(from("null"), 403);
  EXPECT_EQ(from("http://localhost"), 101);
  EXPECT_EQ(from("https://friend.example"), 101);
}

TEST_F(ServedSockets, WrongHandshakesAreRefused) {
  start();
  const auto refusal = [&](const std::string& lines) {
    const Answer answer =
        call("GET", "/api/v1/events", "", kOwner, "Connection: Upgrade\r\nUpgrade: websocket\r\n" + lines);
    return std::to_string(answer.status) + " " + answer.text("field");
  };
  const std::string version = "Sec-WebSocket-Version: 13\r\n",
                    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  EXPECT_EQ(refusal(key), "426 ");
  EXPECT_EQ(refusal(key + "Sec-WebSocket-Version: 8\r\n"), "426 ");
  EXPECT_EQ(refusal(version), "400 Sec-WebSocket-Key");
  EXPECT_EQ(refusal(version + "Sec-WebSocket-Key: short\r\n"), "400 Sec-WebSocket-Key");
  EXPECT_EQ(refusal(version + key + "Sec-WebSocket-Protocol: chat\r\n"), "400 Sec-WebSocket-Protocol");
  EXPECT_EQ(status_of("/api/v1/events?after=x", authorization(kOwner)), 400);
  EXPECT_EQ(status_of("/api/v1/runs", authorization(kOwner)), 200) << "only event streams change protocols";
}

}  // namespace
}  // namespace praxis::server
