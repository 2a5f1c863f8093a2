// Limits, failures, stops and threads of the HTTP client.
#include <gtest/gtest.h>

#include "praxis/base/reach.hpp"

#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <semaphore>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "net/testing/http_client.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {
namespace {

using namespace std::chrono_literals;

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

// ---- how far a request had got

std::optional<Reach> reach_with(HttpRequest request, std::stop_token stop = {}) {
  const auto client = make_http_client();
  const auto response = http_fetch(*client, std::move(request), std::move(stop));
  EXPECT_FALSE(response);
  return response ? std::nullopt : reach_of(response.error());
}

TEST(HttpClient, Errors_StateWhetherAByteOfTheRequestWasWritten) {
  TestServer server([](const TestRequest& request, TestConnection& to) {
    if (request.target == "/garbage") to.write("no http at all\r\n\r\n");
    if (request.target == "/closes") to.close();
    to.wait_for_close();
  });
  HttpRequest late = post_to(server.url("/silent"), "x");
  late.timeouts.total = kShort;
  EXPECT_EQ(reach_with(std::move(late)), Reach::kSent);
  EXPECT_EQ(reach_with(post_to(server.url("/closes"), "x")), Reach::kSent);
  EXPECT_EQ(reach_with(post_to(server.url("/garbage"), "x")), Reach::kAnswered);
  EXPECT_EQ(reach_with(post_to("http://127.0.0.1:1/", "x")), Reach::kNotSent);
  EXPECT_EQ(reach_with(post_to("no url", "x")), Reach::kNotSent);
  HttpRequest refused = post_to(server.url(), "x");
  refused.allow_address = [](std::string_view) { return false; };
  EXPECT_EQ(reach_with(std::move(refused)), Reach::kNotSent);
  // This server waits for a request and never begins the TLS handshake.
  HttpRequest handshake = post_to("https://" + server.url().substr(7), "x");
  handshake.timeouts.connect = kShort;
  EXPECT_EQ(reach_with(std::move(handshake)), Reach::kNotSent);
}

TEST(HttpClient, StoppedRequest_StatesWhetherAByteOfItWasWritten) {
  TestServer server([](const TestRequest&, TestConnection& to) { to.wait_for_close(); });
  std::stop_source stop;
  std::jthread stopper([&] {
    server.wait_for_requests(1);
    stop.request_stop();
  });
  EXPECT_EQ(reach_with(post_to(server.url(), "x"), stop.get_token()), Reach::kSent);
  EXPECT_EQ(reach_with(post_to(server.url(), "x"), stop.get_token()), Reach::kNotSent)
      << "stopped before it began";
}

}  // namespace
}  // namespace praxis
