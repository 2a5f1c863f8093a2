#include "net/http_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "net/testing/raw_client.hpp"

namespace praxis {
namespace {

using praxis::testing::RawClient;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

constexpr std::string_view kGet = "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n";

class HttpServerTest : public ::testing::Test {
 protected:
  /// Starts the server; it answers each request with its method, target and body unless `handler_` is set.
  void start(HttpServerOptions options = {}) {
    auto started =
        HttpServer::start(executor_, std::move(options), [this](ReceivedRequest request, HttpReply reply) {
          ++handled_;
          if (handler_) return handler_(std::move(request), std::move(reply));
          reply.send({200, {}, request.method + " " + request.target + " " + request.body});
        });
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
  }
  RawClient client() const { return RawClient(server_->port()); }
  /// The whole answer to `bytes`, until the server closes.
  std::string answer_to(std::string_view bytes) const {
    RawClient c = client();
    c.send(bytes);
    c.send_no_more();
    std::string all = c.read_all();
    EXPECT_TRUE(c.closed()) << bytes;
    return all;
  }

  std::shared_ptr<Executor> executor_ = make_executor(4);
  std::function<void(ReceivedRequest, HttpReply)> handler_;
  std::atomic<int> handled_ = 0;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersRequestsOfOneConnectionInOrder) {
  start();
  RawClient c = client();
  c.send("POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
  c.send("POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n");
  const std::string& all = c.read_until("POST /3 hi");
  EXPECT_THAT(all, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_LT(all.find("POST /1 abc"), all.find("GET /2 "));
  EXPECT_LT(all.find("GET /2 "), all.find("POST /3 hi"));
  EXPECT_FALSE(c.closed());
}

TEST_F(HttpServerTest, BodyMayComeInPiecesOfAnySize) {
  start();
  const std::string request =
      "POST /1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
  const std::string empty =
      "POST /2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n";
  RequestBounds bounds;
  for (std::size_t piece = 1; piece < request.size(); ++piece) {
    for (const std::string& whole : {request, empty}) {
      RequestParser parser(bounds);
      std::string pending;
      for (std::size_t at = 0; at < whole.size(); at += piece) {
        pending += whole.substr(at, piece);
        pending.erase(0, parser.feed(pending));
      }
      ASSERT_EQ(parser.state(), RequestParser::State::kDone) << piece;
      EXPECT_EQ(parser.request().body, whole == request ? "hi" : "") << piece;
    }
  }
}

TEST_F(HttpServerTest, AnswersLaterAndFromAnotherThread) {
  start();
  handler_ = [this](const ReceivedRequest& request, HttpReply reply) {
    executor_->post_blocking([reply, target = request.target] { reply.send({201, {{"X-A", "1"}}, target}); });
  };
  const std::string answer = answer_to(kGet);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 201 Created\r\nX-A: 1\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n/a?b=c"));
}

TEST_F(HttpServerTest, HeadHasTheLengthButNoBody) {
  start();
  const std::string answer = answer_to("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 7\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST_F(HttpServerTest, RequestThatNobodyAnswers_GetsAnError) {
  start();
  handler_ = [](const ReceivedRequest&, const HttpReply&) {};
  EXPECT_THAT(answer_to(kGet), StartsWith("HTTP/1.1 500 "));
}

TEST_F(HttpServerTest, WeakWayBackKeepsNothingOfTheServer) {
  const auto kept = std::make_shared<int>();
  HttpServerOptions options;
  options.refuse = [kept](int status, const std::string&) { return HttpAnswer{status, {}, {}}; };
  start(std::move(options));
  std::weak_ptr<ReplyQueue> way;
  handler_ = [&way](const ReceivedRequest&, const HttpReply& reply) {
    way = reply.weak();
    reply.send({});
  };
  EXPECT_THAT(answer_to(kGet), StartsWith("HTTP/1.1 200 "));
  server_.reset();
  executor_.reset();  // with what its tasks hold
  EXPECT_TRUE(way.expired());
  EXPECT_EQ(kept.use_count(), 1);
}

// What two readers could understand in different ways, or what is no HTTP at all, reaches no handler.
TEST_F(HttpServerTest, RefusesWhatIsAmbiguous) {
  start();
  const std::vector<std::pair<std::string, std::string>> cases{
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "400"},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
       "400"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "400"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3, 3\r\n\r\nabc", "400"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -3\r\n\r\nabc", "400"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc", "400"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x3\r\n\r\nabc", "400"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", "400"},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "400"},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "400"},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
       "chunked\r\n\r\n0\r\n\r\n",
       "400"},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n", "400"},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nHost: x\r\nBad Name: y\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nHost: x\r\nA: \x01y\r\n\r\n", "400"},
      {"GET / HTTP/1.1\nHost: x\n\n", "400"},
      {"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
      {"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
      {"GET / HTTP/2.0\r\nHost: x\r\n\r\n", "400"},
      {"GET / HTTP/0.9\r\nHost: x\r\n\r\n", "400"},
      {"GET / FTP/1.1\r\nHost: x\r\n\r\n", "400"},
      {"\x16\x03\x01\x02\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nHost: x\r\nExpect: a-miracle\r\n\r\n", "417"},
  };
  for (const auto& [request, status] : cases) {
    const std::string answer = answer_to(request);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + status)) << request;
    EXPECT_THAT(answer, HasSubstr("Connection: close\r\n")) << request;
  }
  EXPECT_EQ(handled_, 0);
}

TEST_F(HttpServerTest, BoundsWhatAClientSends) {
  HttpServerOptions options;
  options.bounds = {.head_bytes = 1000, .headers = 5, .body_bytes = 100};
  start(std::move(options));
  EXPECT_THAT(answer_to("GET /" + std::string(1000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n"),
              StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(answer_to("GET / HTTP/1.1\r\nHost: x\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\n\r\n"),
              StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(answer_to("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  std::string chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 20; ++i) chunked += "a\r\n0123456789\r\n";
  EXPECT_THAT(answer_to(chunked), StartsWith("HTTP/1.1 413"));
  EXPECT_EQ(handled_, 0);
}

TEST_F(HttpServerTest, ClientThatSendsSlowly_IsTurnedOut) {
  HttpServerOptions options;
  options.request_time = 50ms;
  start(std::move(options));
  RawClient c = client();
  c.send("GET / HTTP/1.1\r\n");
  EXPECT_THAT(c.read_all(), StartsWith("HTTP/1.1 408"));
  EXPECT_EQ(handled_, 0);
}

TEST_F(HttpServerTest, ContinuesARequestThatAsks) {
  start();
  RawClient c = client();
  c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(c.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 100 Continue\r\n\r\n"));
  c.send("hi");
  EXPECT_THAT(c.read_until("POST / hi"), HasSubstr("HTTP/1.1 200 OK"));
}

TEST_F(HttpServerTest, StreamsPiecesUntilTheEnd) {
  start();
  handler_ = [this](const ReceivedRequest&, HttpReply reply) {
    executor_->post_blocking([reply] {
      reply.begin(200, {{"Content-Type", "text/event-stream"}});
      for (int i = 0; i < 100; ++i) reply.write(std::make_shared<const std::string>(std::to_string(i) + ";"));
      reply.finish();
      EXPECT_FALSE(reply.write(std::make_shared<const std::string>("late")));
    });
  };
  const std::string answer = answer_to(kGet);
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/event-stream\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\n0;1;2;"));
  EXPECT_THAT(answer, EndsWith(";98;99;"));
}

TEST_F(HttpServerTest, StreamLearnsThatItsClientHasGone) {
  start();
  std::promise<void> gone;
  std::promise<HttpReply> replies;
  handler_ = [&](const ReceivedRequest&, HttpReply reply) {
    reply.on_gone([&] { gone.set_value(); });
    reply.probe_with(std::make_shared<const std::string>("probe;"));
    reply.begin(200, {});
    replies.set_value(std::move(reply));
  };
  RawClient c = client();
  c.send(kGet);
  c.read_until("\r\n\r\n");
  const HttpReply reply = replies.get_future().get();
  c.close();
  ASSERT_EQ(gone.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_FALSE(reply.write(std::make_shared<const std::string>("x")));
}

TEST_F(HttpServerTest, StreamGoesOnWhenItsClientSendsNoMore) {
  start();
  std::promise<HttpReply> replies;
  handler_ = [&](const ReceivedRequest&, HttpReply reply) {
    if (handled_ > 1) return reply.send({200, {}, "second"});
    reply.probe_with(std::make_shared<const std::string>("probe;"));
    reply.begin(200, {});
    replies.set_value(std::move(reply));
  };
  RawClient c = client(), other = client();
  c.send(kGet);
  c.read_until("\r\n\r\n");
  const HttpReply reply = replies.get_future().get();
  c.send_no_more();
  // The server has seen the end of what the client sends once it has answered a later request.
  other.send(kGet);
  other.read_until("second");
  EXPECT_TRUE(reply.write(std::make_shared<const std::string>("still here")));
  EXPECT_THAT(c.read_until("still here"), EndsWith("probe;still here"));
  reply.finish();
  EXPECT_THAT(c.read_all(), EndsWith("still here"));
  EXPECT_TRUE(c.closed());
}

TEST_F(HttpServerTest, ClientThatDoesNotRead_IsDropped) {
  HttpServerOptions options;
  options.write_time = 50ms;
  start(std::move(options));
  std::promise<std::size_t> gone;
  handler_ = [&](const ReceivedRequest&, const HttpReply& reply) {
    reply.begin(200, {});
    const auto piece = std::make_shared<const std::string>(1 << 20, 'x');
    for (int i = 0; i < 32; ++i) reply.write(piece);
    reply.on_gone([&gone, reply] { gone.set_value(reply.waiting()); });
  };
  RawClient c = client();
  c.send(kGet);
  auto waiting = gone.get_future();
  ASSERT_EQ(waiting.wait_for(10s), std::future_status::ready);
  EXPECT_GT(waiting.get(), 0U);
}

TEST_F(HttpServerTest, TurnsAwayWhatExceedsTheConnections) {
  HttpServerOptions options;
  options.max_connections = 1;
  start(std::move(options));
  RawClient first = client();
  first.send(kGet);
  first.read_until("GET /a");
  RawClient second = client();
  EXPECT_THAT(second.read_all(), StartsWith("HTTP/1.1 503"));
  first.close();
  second.close();
  while (server_->connections() > 0) std::this_thread::yield();
  EXPECT_THAT(answer_to(kGet), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, DrainFinishesTheAnswerInProgress) {
  start();
  std::promise<HttpReply> replies;
  handler_ = [&](const ReceivedRequest&, HttpReply reply) { replies.set_value(std::move(reply)); };
  RawClient idle = client(), busy = client();
  busy.send(kGet);
  const HttpReply reply = replies.get_future().get();
  server_->drain();
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_TRUE(idle.closed());
  reply.send({200, {}, "last"});
  EXPECT_THAT(busy.read_all(), EndsWith("last"));
  EXPECT_TRUE(busy.closed());
  EXPECT_FALSE(client().connected());
}

TEST_F(HttpServerTest, UnixSocketIsForItsOwnerOnly) {
  std::string folder = (std::filesystem::temp_directory_path() / "praxis_server_XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  HttpServerOptions options;
  options.socket_path = folder + "/s";
  const auto umask_before = ::umask(0);
  start(options);
  ::umask(umask_before);
  struct stat about{};
  ASSERT_EQ(::stat(options.socket_path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  RawClient c(options.socket_path);
  c.send(kGet);
  EXPECT_THAT(c.read_until("GET /a"), HasSubstr("200 OK"));
  const auto taken = HttpServer::start(executor_, options, [](const ReceivedRequest&, const HttpReply&) {});
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr("Address already in use"));
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(options.socket_path));
  std::filesystem::remove_all(folder);
}

TEST_F(HttpServerTest, PortThatIsTaken_IsAnError) {
  start();
  HttpServerOptions options;
  options.port = server_->port();
  const auto second = HttpServer::start(executor_, options, [](const ReceivedRequest&, const HttpReply&) {});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("cannot listen on 127.0.0.1 port"));
}

}  // namespace
}  // namespace praxis
