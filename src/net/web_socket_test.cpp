// WebSocket: frames as RFC 6455 gives them, what clients must not send, and connections of the server.
#include "net/web_socket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "net/http_server.hpp"
#include "net/testing/web_socket_client.hpp"

namespace praxis {
namespace {

using praxis::testing::WebSocketClient;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;
using Frame = WebSocketClient::Frame;

constexpr auto kFinal = WebSocketClient::kFinal;

std::string sent(std::uint8_t first, std::string_view payload, bool is_masked = true) {
  return WebSocketClient::frame(first, payload, is_masked);
}

/// What a reader makes of bytes: messages, then the close code of a failure.
std::string read_as(std::string_view bytes, std::size_t piece = 1'000'000) {
  WebSocketReader reader(100);
  std::string out;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    for (const auto& message : reader.feed(bytes.substr(0, piece)))
      out += "TBpqC"[static_cast<std::size_t>(message.kind)] + message.payload + ";";
  }
  return reader.failed() ? out + std::to_string(std::to_underlying(reader.code())) : out;
}

TEST(WebSocketFrames, AreThoseOfTheStandard) {
  EXPECT_EQ(web_socket_accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_EQ(text_frame("Hello"), "\x81\x05Hello");
  EXPECT_EQ(ping_frame("Hello"), "\x89\x05Hello");
  EXPECT_EQ(text_frame(std::string(256, 'x')).substr(0, 4), std::string("\x81\x7e\x01\x00", 4));
  EXPECT_EQ(text_frame(std::string(65'536, 'x')).substr(0, 10),
            std::string("\x81\x7f\0\0\0\0\0\x01\0\0", 10));
  EXPECT_EQ(close_frame(CloseCode::kGoingAway, "bye"),
            "\x88\x05\x03\xe9"
            "bye");
  EXPECT_EQ(close_frame(CloseCode::kNormal, std::string(200, 'x')).size(), 127U);
  EXPECT_EQ(read_as("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), "THello;")
      << "masked, as in section 5.7";
  EXPECT_TRUE(is_web_socket_key("dGhlIHNhbXBsZSBub25jZQ=="));
  for (const char* key : {"", "x", "dGhlIHNhbXBsZQ==", "dGhlIHNhbXBsZSBub25jZQ"})
    EXPECT_FALSE(is_web_socket_key(key)) << key;
}

TEST(WebSocketFrames, MayComeInPiecesAndFragments) {
  const std::string all = sent(1, "ab") + sent(kFinal | 9, "are you there") + sent(0, "") +
                          sent(kFinal | 0, "c") + sent(kFinal | 2, std::string("\xff\0", 2)) +
                          sent(kFinal | 8,
                               "\x03\xe8"
                               "bye") +
                          sent(kFinal | 1, "after the close");
  const std::string expected = read_as(all);
  EXPECT_EQ(expected, std::string("pare you there;Tabc;B\xff\0;C\x03\xe8"
                                  "bye;",
                                  31));
  for (std::size_t piece = 1; piece < all.size(); ++piece) EXPECT_EQ(read_as(all, piece), expected) << piece;
}

TEST(WebSocketFrames, TextSplitWithinACharacterIsWhole) {
  EXPECT_EQ(read_as(sent(1, "\xc3") + sent(kFinal | 0, "\xa9")), "T\xc3\xa9;");
}

TEST(WebSocketFrames, BrokenOnesAreRefusedWithTheCodeThatFits) {
  const std::pair<std::string, std::string> cases[] = {
      {"not masked", sent(kFinal | 1, "x", false)},
      {"reserved bit", sent(kFinal | 0x40 | 1, "x")},
      {"unknown kind", sent(kFinal | 3, "x")},
      {"unknown control", sent(kFinal | 11, "x")},
      {"fragmented ping", sent(9, "x")},
      {"long ping", sent(kFinal | 9, std::string(126, 'x'))},
      {"continues nothing", sent(kFinal | 0, "x")},
      {"begins twice", sent(1, "x") + sent(kFinal | 1, "x")},
      {"length not shortest", std::string("\x81\xfe\x00\x05"
                                          "mask12345",
                                          13)},
      {"long length not shortest", std::string("\x81\xff\0\0\0\0\0\0\0\x05"
                                               "mask12345",
                                               19)},
      {"close of one byte", sent(kFinal | 8, "x")},
      {"close with a reserved code", sent(kFinal | 8, "\x03\xed")},
      {"close with an unknown code", sent(kFinal | 8, std::string("\x00\x01", 2))},
  };
  for (const auto& [name, bytes] : cases) {
    for (const std::size_t piece : {1UL, 1000UL}) EXPECT_EQ(read_as(bytes, piece), "1002") << name;
  }
  EXPECT_EQ(read_as(sent(kFinal | 1, "\xff")), "1007");
  EXPECT_EQ(read_as(sent(kFinal | 8, "\x03\xe8\xff")), "1007");
  EXPECT_EQ(read_as(sent(kFinal | 1, std::string(101, 'x'))), "1009");
  EXPECT_EQ(read_as(sent(1, std::string(60, 'x')) + sent(0, std::string(41, 'x'))), "1009");
  EXPECT_EQ(read_as(std::string("\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff"
                                "mask",
                                14)),
            "1009")
      << "before any of it has come";
}

// ---- connections

class WebSocketServer : public ::testing::Test {
 protected:
  void start(HttpServerOptions options = {}) {
    options.message_bytes = 1000;
    auto started = HttpServer::start(
        executor_, std::move(options), [this](const ReceivedRequest& request, HttpReply reply) {
          reply.begin_socket(std::string(*find_header(request.headers, "Sec-WebSocket-Key")), {});
          replies_.set_value(std::move(reply));
        });
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
  }
  std::unique_ptr<WebSocketClient> connect() {
    replies_ = {};
    auto client = std::make_unique<WebSocketClient>(server_->port(), "/", "");
    reply_.emplace(replies_.get_future().get());
    EXPECT_THAT(client->head(), StartsWith("HTTP/1.1 101 Switching Protocols\r\n"));
    return client;
  }
  void write(const std::string& frame) const { reply_->write(std::make_shared<const std::string>(frame)); }

  std::shared_ptr<Executor> executor_ = make_executor(4);
  std::promise<HttpReply> replies_;
  std::optional<HttpReply> reply_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(WebSocketServer, HandshakeIsThatOfTheStandard) {
  start();
  const auto client = connect();
  EXPECT_THAT(client->head(), HasSubstr("Upgrade: websocket\r\n"));
  EXPECT_THAT(client->head(), HasSubstr("Connection: Upgrade"));
  EXPECT_THAT(client->head(), HasSubstr("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
}

TEST_F(WebSocketServer, PingsAreAnsweredAmongFragmentsAndMessages) {
  start();
  const auto client = connect();
  client->send(1, "a message that is");
  client->send(kFinal | 9, "there?");
  EXPECT_EQ(client->next(), (Frame{10, "there?"}));
  client->send(kFinal | 0, " ignored");
  write(text_frame("event"));
  EXPECT_EQ(client->next(), (Frame{1, "event"}));
}

TEST_F(WebSocketServer, CloseOfTheClientIsAnswered) {
  start();
  const auto client = connect();
  client->send(kFinal | 8, "\x03\xe8");
  const auto closed = client->next();
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->code(), 1000);
  EXPECT_FALSE(client->next());
  EXPECT_TRUE(client->raw().closed());
  EXPECT_FALSE(reply_->write(std::make_shared<const std::string>("late")));
}

TEST_F(WebSocketServer, BrokenFramesCloseWithAReason) {
  start();
  const std::pair<int, std::string> cases[] = {
      {1002, WebSocketClient::frame(kFinal | 1, "x", false)},
      {1009, sent(kFinal | 1, std::string(1001, 'x'))},
      {1009, sent(1, std::string(600, 'x')) + sent(0, std::string(600, 'x'))},
      {1007, sent(kFinal | 1, "\xff")}};
  for (const auto& [code, bytes] : cases) {
    const auto client = connect();
    client->raw().send(bytes);
    const auto closed = client->next();
    ASSERT_TRUE(closed) << code;
    EXPECT_EQ(closed->code(), code);
    EXPECT_GT(closed->payload.size(), 10U) << "a reason for humans";
    EXPECT_FALSE(client->next());
  }
}

TEST_F(WebSocketServer, EndOfTheServerComesAfterTheLastMessage) {
  start();
  const auto client = connect();
  write(text_frame("last"));
  reply_->finish(std::make_shared<const std::string>(close_frame(CloseCode::kGoingAway, "the server ends")));
  write(text_frame("too late"));
  EXPECT_EQ(client->next(), (Frame{1, "last"}));
  const auto closed = client->next();
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->code(), 1001);
  EXPECT_EQ(closed->payload.substr(2), "the server ends");
  EXPECT_FALSE(client->next());
}

TEST_F(WebSocketServer, SilentClientIsPingedThenDropped) {
  HttpServerOptions options;
  options.idle_time = 1000ms;
  start(std::move(options));
  const auto client = connect();
  for (int i = 0; i < 1; ++i) {
    EXPECT_EQ(client->next(), (Frame{9, ""}));
    client->send(kFinal | 10, "");
  }
  EXPECT_EQ(client->next(), (Frame{9, ""}));
  EXPECT_FALSE(client->next());
  EXPECT_TRUE(client->raw().closed());
}

TEST_F(WebSocketServer, PingsOfAClientThatReadsNothingDoNotPileUp) {
  start();
  const auto client = connect();
  std::string pings;
  for (int i = 0; i < 2000; ++i) pings += sent(kFinal | 9, std::string(125, 'p'));
  for (int i = 0; i < 50; ++i) client->raw().send(pings);
  EXPECT_LT(reply_->waiting(), 256U * 1024);
}

}  // namespace
}  // namespace praxis
