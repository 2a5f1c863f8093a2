#include "praxis/net/http_client.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "net/testing/test_server.hpp"

namespace praxis {
namespace {

using namespace std::chrono_literals;

constexpr auto kShort = 50ms;  // a limit that the test reaches
constexpr auto kLong = 30s;    // a limit that the test does not reach

HttpRequest request_to(std::string url) {
  HttpRequest request;
  request.url = std::move(url);
  request.use_proxy = false;
  request.timeouts = {kLong, kLong, kLong, 0ms};
  return request;
}

HttpRequest post_to(std::string url, std::string body) {
  HttpRequest request = request_to(std::move(url));
  request.method = "POST";
  request.body = std::make_shared<const std::string>(std::move(body));
  return request;
}

template <class T>
std::string kind_of(const Result<T>& result) {
  if (result) return "no error";
  if (!result.error().detail.is_object()) return std::string(to_string(result.error().code));
  return std::string(result.error().detail.at("kind").as_string());
}

TestServer::Handler always(std::string reply) {
  return [reply](const TestRequest&, TestConnection& to) { to.write(reply); };
}
TestServer::Handler once_then_close(std::string reply) {
  return [reply](const TestRequest&, TestConnection& to) {
    to.write(reply);
    to.close();
  };
}

// Records callbacks; `at_head` and `at_body` run on the I/O thread.
struct Recorder : HttpSink {
  void on_head(const HttpResponseHead&) override {
    log += "h";
    if (at_head) at_head();
  }
  void on_body(std::string_view bytes) override {
    log += "b";
    body += bytes;
    if (at_body) at_body();
  }
  void on_done(Status s) override {
    log += "d";
    status = std::move(s);
    done.release();
  }
  std::string log;
  std::string body;
  Status status;
  std::function<void()> at_head;
  std::function<void()> at_body;
  std::counting_semaphore<> done{0};
};

TEST(HttpClient, Request_IsSentAsWritten) {
  TestServer server(always(http_reply(200, "hello", "X-Answer: 42\r\n")));
  auto client = make_http_client({.user_agent = "tester/1"});
  HttpRequest request = post_to(server.url("/a/b?c=d"), "the body");
  request.headers = {{"X-One", "1"}};
  const auto response = http_fetch(*client, request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "hello");
  EXPECT_EQ(find_header(response->headers, "x-answer"), "42");
  EXPECT_EQ(find_header(response->headers, "absent"), std::nullopt);

  const TestRequest seen = server.requests().at(0);
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, "/a/b?c=d");
  EXPECT_EQ(seen.body, "the body");
  EXPECT_EQ(find_header(seen.headers, "Host"), "127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(find_header(seen.headers, "User-Agent"), "tester/1");
  EXPECT_EQ(find_header(seen.headers, "X-One"), "1");
}

TEST(HttpClient, KeepAlive_OneConnectionServesManyRequests) {
  TestServer server(always(http_reply(200, "ok")));
  auto client = make_http_client();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(http_fetch(*client, request_to(server.url())));
  EXPECT_EQ(server.requests().size(), 10u);
  EXPECT_EQ(server.connections(), 1u);
}

TEST(HttpClient, ConnectionClose_IsNotReused) {
  TestServer server(always(http_reply(200, "ok", "Connection: close\r\n")));
  auto client = make_http_client();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(http_fetch(*client, request_to(server.url())));
  EXPECT_EQ(server.connections(), 3u);
}

TEST(HttpClient, BytesAfterTheResponse_CloseTheConnection) {
  TestServer server(always(http_reply(200, "ok") + "HTTP/1.1 200 Smuggled\r\nContent-Length: 3\r\n\r\nbad"));
  auto client = make_http_client();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(http_fetch(*client, request_to(server.url()))->body, "ok");
  EXPECT_EQ(server.connections(), 3u);
}

TEST(HttpClient, UnsolicitedBytes_AreNotTakenForTheNextResponse) {
  std::binary_semaphore idle{0};
  std::binary_semaphore written{0};
  TestServer server([&](const TestRequest& request, TestConnection& to) {
    to.write(http_reply(200, "ok"));
    if (request.connection > 0) return;
    idle.acquire();
    to.write(http_reply(408, "too slow"));
    written.release();
  });
  auto client = make_http_client();
  auto second = std::make_shared<Recorder>();
  struct First : Recorder {
    void on_done(Status) override { at_done(); }
    std::function<void()> at_done;
  };
  auto first = std::make_shared<First>();
  first->at_done = [&] {
    idle.release();
    written.acquire();  // the bytes have arrived and the I/O thread has not read them yet
    client->send(request_to(server.url()), second, {});
  };
  client->send(request_to(server.url()), first, {});
  second->done.acquire();
  EXPECT_EQ(second->body, "ok");
  EXPECT_EQ(server.connections(), 2u);
}

TEST(HttpClient, IdleConnection_IsClosedAfterItsLifetime) {
  TestServer server(always(http_reply(200, "ok")));
  auto client = make_http_client({.idle_lifetime = kShort});
  ASSERT_TRUE(http_fetch(*client, request_to(server.url())));
  server.wait_until_idle();
  ASSERT_TRUE(http_fetch(*client, request_to(server.url())));
  EXPECT_EQ(server.connections(), 2u);
}

TEST(HttpClient, StaleConnection_IsReplacedAndTheRequestSentAgain) {
  // The second request on a connection finds it closed; no handler that answers has read the request.
  TestServer server([served = std::make_shared<std::map<std::size_t, int>>(),
                     mutex = std::make_shared<std::mutex>()](const TestRequest& request, TestConnection& to) {
    std::lock_guard lock(*mutex);
    if (++(*served)[request.connection] == 1) {
      to.write(http_reply(200, "ok"));
    } else {
      to.close();
    }
  });
  auto client = make_http_client();
  for (int i = 0; i < 3; ++i) {
    const auto response = http_fetch(*client, post_to(server.url(), "payload"));
    ASSERT_TRUE(response) << response.error().message;
  }
  EXPECT_EQ(server.connections(), 3u);
  for (const TestRequest& request : server.requests()) EXPECT_EQ(request.body, "payload");
}

TEST(HttpClient, FreshConnectionThatBreaks_IsNotRetried) {
  TestServer server([](const TestRequest&, TestConnection& to) { to.close(); });
  auto client = make_http_client();
  const auto response = http_fetch(*client, post_to(server.url(), "x"));
  EXPECT_EQ(kind_of(response), "closed");
  EXPECT_TRUE(response.error().retriable);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(HttpClient, ReusedConnectionThatBreaksInTheHead_IsNotRetried) {
  TestServer server(
      [first = std::make_shared<std::atomic<bool>>(true)](const TestRequest&, TestConnection& to) {
        if (first->exchange(false)) {
          to.write(http_reply(200, "ok"));
        } else {
          to.write("H");
          to.close();
        }
      });
  auto client = make_http_client();
  ASSERT_TRUE(http_fetch(*client, request_to(server.url())));
  EXPECT_EQ(kind_of(http_fetch(*client, request_to(server.url()))), "closed");
  EXPECT_EQ(server.requests().size(), 2u);
}

struct Framing {
  const char* name;
  std::string reply;
  bool ends_with_close;
};

std::vector<Framing> framings() {
  return {
      {"content-length", http_reply(200, "hello world"), false},
      {"chunked",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
       "5;ext=1\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: x\r\n\r\n",
       false},
      {"after 1xx",
       "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 100 Go\r\n\r\n" + http_reply(200, "hello world"),
       false},
      {"until close", "HTTP/1.1 200 OK\r\n\r\nhello world", true},
  };
}

TEST(HttpClient, EveryFraming_GivesTheSameBody) {
  for (const Framing& framing : framings()) {
    TestServer server(framing.ends_with_close ? once_then_close(framing.reply) : always(framing.reply));
    auto client = make_http_client();
    for (int i = 0; i < 2; ++i) {
      const auto response = http_fetch(*client, request_to(server.url()));
      ASSERT_TRUE(response) << framing.name << ": " << response.error().message;
      EXPECT_EQ(response->body, "hello world") << framing.name;
    }
    EXPECT_EQ(server.connections(), framing.ends_with_close ? 2u : 1u) << framing.name;
  }
}

TEST(HttpClient, ResponseByteByByte_GivesTheSameBody) {
  for (const Framing& framing : framings()) {
    TestServer server([&framing](const TestRequest&, TestConnection& to) {
      for (const char byte : framing.reply) to.write({&byte, 1});
      to.close();
    });
    auto client = make_http_client();
    const auto response = http_fetch(*client, request_to(server.url()));
    ASSERT_TRUE(response) << framing.name << ": " << response.error().message;
    EXPECT_EQ(response->body, "hello world") << framing.name;
  }
}

TEST(HttpClient, ResponseCutAnywhere_IsNeverANormalEnd) {
  for (const Framing& framing : framings()) {
    if (framing.ends_with_close) continue;
    std::atomic<std::size_t> cut = 0;
    TestServer server([&](const TestRequest&, TestConnection& to) {
      to.write(std::string_view(framing.reply).substr(0, cut));
      to.close();
    });
    auto client = make_http_client();
    for (cut = 0; cut < framing.reply.size(); ++cut) {
      const auto response = http_fetch(*client, request_to(server.url()));
      ASSERT_EQ(kind_of(response), "closed") << framing.name << " cut at " << cut;
    }
  }
}

TEST(HttpClient, Reset_IsAnErrorEvenForBodiesUntilClose) {
  TestServer server([](const TestRequest&, TestConnection& to) {
    to.write("HTTP/1.1 200 OK\r\n\r\npart");
    to.reset();
  });
  auto client = make_http_client();
  EXPECT_EQ(kind_of(http_fetch(*client, request_to(server.url()))), "closed");
}

TEST(HttpClient, ResponsesToHeadAndNoContent_HaveNoBody) {
  TestServer server([](const TestRequest& request, TestConnection& to) {
    to.write(request.method == "HEAD" ? "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"
                                      : "HTTP/1.1 204 No Content\r\n\r\n");
  });
  auto client = make_http_client();
  HttpRequest head = request_to(server.url());
  head.method = "HEAD";
  EXPECT_EQ(http_fetch(*client, head)->body, "");
  EXPECT_EQ(http_fetch(*client, request_to(server.url()))->status, 204);
  EXPECT_EQ(server.connections(), 1u);
}

TEST(HttpClient, Body_IsStreamedBeforeTheResponseEnds) {
  std::binary_semaphore seen{0};
  TestServer server([&](const TestRequest&, TestConnection& to) {
    to.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na");
    seen.acquire();  // the rest only after the client has seen the first byte
    to.write("b");
  });
  auto client = make_http_client();
  auto sink = std::make_shared<Recorder>();
  sink->at_body = [&] { seen.release(); };
  client->send(request_to(server.url()), sink, {});
  sink->done.acquire();
  EXPECT_TRUE(sink->status);
  EXPECT_EQ(sink->log, "hbbd");
  EXPECT_EQ(sink->body, "ab");
}

TEST(HttpClient, LargeBodies_PassBothWays) {
  std::string large(20'000'000, 'x');
  for (std::size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>('a' + i / 1000 % 26);
  TestServer server(
      [](const TestRequest& request, TestConnection& to) { to.write(http_reply(200, request.body)); });
  auto client = make_http_client();
  const auto response = http_fetch(*client, post_to(server.url(), large));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_TRUE(response->body == large);
}

TEST(HttpClient, TooLargeBody_IsRefusedInEveryFraming) {
  for (const Framing& framing : framings()) {
    TestServer server(once_then_close(framing.reply));
    auto client = make_http_client();
    HttpRequest request = request_to(server.url());
    request.max_body_bytes = 10;
    const auto response = http_fetch(*client, request);
    EXPECT_EQ(kind_of(response), "too_large") << framing.name;
    request.max_body_bytes = 11;
    EXPECT_TRUE(http_fetch(*client, request)) << framing.name;
  }
}

TEST(HttpClient, HeaderBombs_AreRefused) {
  std::string many;
  for (int i = 0; i < 300; ++i) many += "A: b\r\n";
  const std::string long_line = "X: " + std::string(100'000, 'y') + "\r\n";
  const std::string long_status = "HTTP/1.1 200 " + std::string(100'000, 'z');
  const std::string chunk_bomb =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(300'000, 'e');
  std::string informational;
  for (int i = 0; i < 100; ++i) informational += "HTTP/1.1 100 Continue\r\n\r\n";
  for (const std::string& reply :
       {http_reply(200, "", many), http_reply(200, "", long_line), long_status, chunk_bomb, informational}) {
    TestServer server([&](const TestRequest&, TestConnection& to) {
      to.write(reply);
      to.wait_for_close();
    });
    auto client = make_http_client();
    const std::string kind = kind_of(http_fetch(*client, request_to(server.url())));
    EXPECT_TRUE(kind == "too_large" || kind == "protocol") << kind << " for " << reply.substr(0, 40);
  }
}

TEST(HttpClient, DrippedHeaderBomb_IsRefusedToo) {
  TestServer server([&](const TestRequest&, TestConnection& to) {
    to.write("HTTP/1.1 200 OK\r\n");
    while (to.write("Name: value\r\n")) {
    }
    to.wait_for_close();
  });
  auto client = make_http_client();
  EXPECT_EQ(kind_of(http_fetch(*client, request_to(server.url()))), "too_large");
}

TEST(HttpClient, BytesOtherThanHttp_AreAProtocolError) {
  for (const char* reply : {"220 mail.example.com ESMTP\r\n", "\x15\x03\x01\x02", "<html>",
                            "HTTP/2 200\r\n\r\n", "HTTP/1.1 20x OK\r\n\r\n", "HTTP/1.1 101 Switching\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    TestServer server(always(reply));
    auto client = make_http_client();
    EXPECT_EQ(kind_of(http_fetch(*client, request_to(server.url()))), "protocol") << reply;
  }
}

TEST(HttpClient, TimeLimits_EndSlowExchanges) {
  TestServer server([&](const TestRequest& request, TestConnection& to) {
    if (request.target == "/silent-body") to.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
    if (request.target == "/half-head") to.write("HTTP/1.1 200 O");
    if (request.target == "/drip") {
      to.write("HTTP/1.1 200 OK\r\n\r\n");
      while (to.write("x")) std::this_thread::yield();
    }
    to.wait_for_close();
  });
  auto client = make_http_client();
  const auto kind_with = [&](const char* target, HttpTimeouts timeouts) {
    HttpRequest request = request_to(server.url(target));
    request.timeouts = timeouts;
    request.max_body_bytes = static_cast<std::size_t>(-1);
    const auto response = http_fetch(*client, request);
    EXPECT_TRUE(!response && response.error().retriable) << target;
    return kind_of(response);
  };
  EXPECT_EQ(kind_with("/silent", {kLong, kShort, kLong, 0ms}), "timeout_first_byte");
  EXPECT_EQ(kind_with("/half-head", {kLong, kShort, kLong, 0ms}), "timeout_first_byte");
  EXPECT_EQ(kind_with("/silent-body", {kLong, kLong, kShort, 0ms}), "timeout_idle");
  EXPECT_EQ(kind_with("/silent", {kLong, kLong, kLong, kShort}), "timeout_total");
  EXPECT_EQ(kind_with("/silent-body", {kLong, kLong, kLong, kShort}), "timeout_total");
  EXPECT_EQ(kind_with("/drip", {kLong, kLong, kLong, kShort}), "timeout_total");
}

TEST(HttpClient, LimitsOfOneRequest_DoNotOutliveIt) {
  std::binary_semaphore later{0};
  TestServer server([&](const TestRequest& request, TestConnection& to) {
    if (request.target == "/silent") return to.wait_for_close();
    if (request.target == "/later") later.acquire();
    to.write(http_reply(200, "ok"));
  });
  auto client = make_http_client();
  HttpRequest limited = request_to(server.url());
  limited.timeouts.total = 4 * kShort;
  ASSERT_TRUE(http_fetch(*client, limited));
  auto unlimited = std::make_shared<Recorder>();
  client->send(request_to(server.url("/later")), unlimited, {});  // on the same connection
  server.wait_for_requests(2);
  limited.url = server.url("/silent");
  // The earlier limit has passed as well by then.
  EXPECT_EQ(kind_of(http_fetch(*client, limited)), "timeout_total");
  later.release();
  unlimited->done.acquire();
  EXPECT_TRUE(unlimited->status);
  EXPECT_EQ(server.requests().at(1).connection, 0u);
}

TEST(HttpClient, UploadThatStalls_EndsByTheIdleLimit) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);  // only the kernel accepts; no program reads
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  auto client = make_http_client();
  HttpRequest request =
      post_to("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)), std::string(50'000'000, 'x'));
  request.timeouts.idle = kShort;
  EXPECT_EQ(kind_of(http_fetch(*client, request)), "timeout_idle");
  ::close(listener);
}

TEST(HttpClient, ConnectionThatIsNeverAccepted_EndsByTheConnectLimit) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 0), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  auto client = make_http_client();
  std::string kind;
  // The first connections fill the backlog of the listener.
  for (int i = 0; i < 4 && kind != "timeout_connect"; ++i) {
    HttpRequest request = request_to("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
    request.timeouts.connect = kShort;
    request.timeouts.first_byte = kShort;
    kind = kind_of(http_fetch(*client, request));
  }
  EXPECT_EQ(kind, "timeout_connect");
  ::close(listener);
}

TEST(HttpClient, ClosedPort_IsAConnectError) {
  std::uint16_t port = 0;
  {
    port = TestServer(always("")).port();
  }
  auto client = make_http_client();
  const auto response = http_fetch(*client, request_to("http://127.0.0.1:" + std::to_string(port)));
  EXPECT_EQ(kind_of(response), "connect");
  EXPECT_TRUE(response.error().retriable);
  EXPECT_NE(response.error().message.find("127.0.0.1:" + std::to_string(port)), std::string::npos);
}

TEST(HttpClient, Localhost_IsLookedUpAndReached) {
  TestServer server(always(http_reply(200, "ok")));
  auto client = make_http_client();
  const auto response = http_fetch(*client, request_to("http://localhost:" + std::to_string(server.port())));
  ASSERT_TRUE(response) << response.error().message;  // the client tries 127.0.0.1 when ::1 refuses
}

TEST(HttpClient, UnknownName_IsADnsError) {
  auto client = make_http_client();
  EXPECT_EQ(kind_of(http_fetch(*client, request_to("http://no-such-host.invalid/"))), "dns");
}

TEST(HttpClient, Stop_EndsWhileWaitingForTheHead) {
  TestServer server([](const TestRequest&, TestConnection& to) { to.wait_for_close(); });
  auto client = make_http_client();
  std::stop_source stop;
  auto sink = std::make_shared<Recorder>();
  client->send(request_to(server.url()), sink, stop.get_token());
  server.wait_for_requests(1);
  stop.request_stop();
  sink->done.acquire();
  EXPECT_EQ(sink->log, "d");
  EXPECT_EQ(sink->status.error().code, ErrorCode::kCancelled);
  server.wait_until_idle();  // the connection is closed, not kept
}

TEST(HttpClient, StopDuringTheBody_IsTheLastCallback) {
  TestServer server([](const TestRequest&, TestConnection& to) {
    to.write("HTTP/1.1 200 OK\r\n\r\n");
    while (to.write("x")) {
    }
    to.wait_for_close();
  });
  auto client = make_http_client();
  std::stop_source stop;
  auto sink = std::make_shared<Recorder>();
  sink->at_body = [&] { stop.request_stop(); };
  client->send(request_to(server.url()), sink, stop.get_token());
  sink->done.acquire();
  EXPECT_EQ(sink->status.error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(sink->log.starts_with("hb"));
  EXPECT_EQ(sink->log.find('d'), sink->log.size() - 1);
}

TEST(HttpClient, StopBeforeAndAfter_AreHarmless) {
  TestServer server(always(http_reply(200, "ok")));
  auto client = make_http_client();
  std::stop_source before;
  before.request_stop();
  EXPECT_EQ(http_fetch(*client, request_to(server.url()), before.get_token()).error().code,
            ErrorCode::kCancelled);
  EXPECT_EQ(server.connections(), 0u);

  std::stop_source after;
  ASSERT_TRUE(http_fetch(*client, request_to(server.url()), after.get_token()));
  after.request_stop();  // must not affect the next request on the same connection
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(http_fetch(*client, request_to(server.url())));
  EXPECT_EQ(server.connections(), 1u);
}

TEST(HttpClient, DestroyedClient_CancelsItsExchanges) {
  TestServer server([](const TestRequest&, TestConnection& to) { to.wait_for_close(); });
  auto client = make_http_client();
  std::vector<std::shared_ptr<Recorder>> sinks;
  for (int i = 0; i < 5; ++i) {
    sinks.push_back(std::make_shared<Recorder>());
    client->send(request_to(server.url()), sinks.back(), {});
  }
  server.wait_for_requests(3);
  client.reset();
  for (const auto& sink : sinks) {
    EXPECT_EQ(sink->log, "d");
    EXPECT_EQ(sink->status.error().code, ErrorCode::kCancelled);
  }
}

TEST(HttpClient, Sink_MayDestroyTheClient) {
  TestServer server(always(http_reply(200, "ok")));
  struct Last : HttpSink {
    void on_head(const HttpResponseHead&) override {}
    void on_body(std::string_view) override {}
    void on_done(Status) override {
      client.reset();
      done.set_value();
    }
    std::shared_ptr<HttpClient> client;
    std::promise<void> done;
  };
  auto sink = std::make_shared<Last>();
  sink->client = make_http_client();
  HttpClient& client = *sink->client;
  client.send(request_to(server.url()), sink, {});
  sink->done.get_future().get();
  server.wait_until_idle();
}

TEST(HttpClient, RefusedAddress_IsNeverDialled) {
  TestServer server(always(http_reply(200, "ok")));
  auto client = make_http_client();
  const std::string by_name = "http://localhost:" + std::to_string(server.port());
  for (const std::string& url : {server.url(), by_name}) {
    HttpRequest request = request_to(url);
    request.allow_address = [](std::string_view address) { return !is_non_public_address(address); };
    const auto response = http_fetch(*client, request);
    EXPECT_EQ(kind_of(response), "address_refused");
    EXPECT_FALSE(response.error().retriable);
  }
  EXPECT_EQ(server.connections(), 0u);
}

TEST(HttpClient, RefusedAddress_IsNotReachedThroughAKeptConnection) {
  TestServer server(always(http_reply(200, "ok")));
  auto client = make_http_client();
  HttpRequest request = request_to(server.url());
  ASSERT_TRUE(http_fetch(*client, request));
  request.allow_address = [](std::string_view) { return false; };
  EXPECT_EQ(kind_of(http_fetch(*client, request)), "address_refused");
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(HttpClient, UnusableRequests_AreInputErrors) {
  TestServer server(always(http_reply(200, "ok")));
  auto client = make_http_client();
  const auto code_of = [&](const HttpRequest& request) {
    const auto response = http_fetch(*client, request);
    return response ? ErrorCode::kInternal : response.error().code;
  };
  for (const auto& [name, value] : HttpHeaders{{"X", "a\r\nY: b"},
                                               {"X", "a\n"},
                                               {"X:", "a"},
                                               {"", "a"},
                                               {"X Y", "a"},
                                               {"host", "evil"},
                                               {"Content-Length", "0"},
                                               {"transfer-encoding", "chunked"},
                                               {"X", std::string("a\0b", 3)}}) {
    HttpRequest request = request_to(server.url());
    request.headers = {{name, value}};
    EXPECT_EQ(code_of(request), ErrorCode::kInput) << name;
  }
  for (const char* method : {"", "GE T", "GET / HTTP/1.1\r\n", "CONNECT"}) {
    HttpRequest request = request_to(server.url());
    request.method = method;
    EXPECT_EQ(code_of(request), ErrorCode::kInput) << method;
  }
  EXPECT_EQ(code_of(request_to("ftp://h/")), ErrorCode::kInput);
  EXPECT_EQ(server.connections(), 0u);
}

TEST(HttpClient, TwoHundredConcurrentRequests_AllComplete) {
  TestServer server(
      [](const TestRequest& request, TestConnection& to) { to.write(http_reply(200, request.target)); });
  auto client = make_http_client();
  std::vector<std::shared_ptr<Recorder>> sinks;
  for (int round = 0; round < 3; ++round) {
    sinks.clear();
    for (int i = 0; i < 200; ++i) {
      sinks.push_back(std::make_shared<Recorder>());
      client->send(request_to(server.url("/" + std::to_string(i))), sinks.back(), {});
    }
    for (std::size_t i = 0; i < sinks.size(); ++i) {
      sinks[i]->done.acquire();
      ASSERT_TRUE(sinks[i]->status) << sinks[i]->status.error().message;
      EXPECT_EQ(sinks[i]->body, "/" + std::to_string(i));
    }
  }
  EXPECT_LE(server.connections(), 200u);
}

TEST(HttpClient, ManyThreadsAndStops_EndEachSinkOnce) {
  TestServer server([](const TestRequest&, TestConnection& to) { to.write(http_reply(200, "ok")); });
  auto client = make_http_client();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        std::stop_source stop;
        auto sink = std::make_shared<Recorder>();
        client->send(request_to(server.url()), sink, stop.get_token());
        if ((i + t) % 2 == 0) stop.request_stop();
        sink->done.acquire();
        EXPECT_TRUE(sink->status || sink->status.error().code == ErrorCode::kCancelled);
      }
    });
  }
}

TEST(HttpClientOnAnExecutor, BlockingTask_MayWaitForTheClientThatSharesItsThread) {
  TestServer server(always(http_reply(200, "ok")));
  std::array<std::promise<Result<HttpResponse>>, 10> answers;
  const auto executor = make_executor();
  const auto client = make_http_client({}, executor);
  for (auto& done : answers) {
    executor->post([&] {
      executor->post_blocking([&] { done.set_value(http_fetch(*client, request_to(server.url()))); });
    });
    const auto response = done.get_future().get();
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "ok");
  }
}

}  // namespace
}  // namespace praxis
