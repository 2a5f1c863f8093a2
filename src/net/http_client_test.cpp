#include "praxis/net/http_client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <vector>

#include "net/testing/http_client.hpp"

namespace praxis {
namespace {

using namespace std::chrono_literals;

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

TEST(HttpClient, StatusLineWithoutReason_IsAccepted) {
  for (const std::string line : {"HTTP/1.1 200\r\n", "HTTP/1.0 200\r\n", "HTTP/1.1 200 \r\n"}) {
    for (const bool dripped : {false, true}) {
      TestServer server([&](const TestRequest&, TestConnection& to) {
        const std::string reply = "HTTP/1.1 100\r\n\r\n" + line + "Content-Length: 3\r\n\r\nabc";
        if (!dripped) to.write(reply);
        for (const char c : dripped ? reply : std::string()) to.write(std::string(1, c));
      });
      auto client = make_http_client();
      const auto response = http_fetch(*client, request_to(server.url()));
      ASSERT_TRUE(response) << line << response.error().message;
      EXPECT_EQ(response->status, 200);
      EXPECT_EQ(response->body, "abc");
    }
  }
}

TEST(HttpClient, BytesOtherThanHttp_AreAProtocolError) {
  for (const char* reply : {"220 mail.example.com ESMTP\r\n",
                            "\x15\x03\x01\x02",
                            "<html>",
                            "HTTP/2 200\r\n\r\n",
                            "HTTP/1.1 20x OK\r\n\r\n",
                            "HTTP/1.1 101 Switching\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n abc\r\n\r\n0\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nabc",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"
                            "\r\n0\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n 4\r\n\r\nabc",
                            "HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nabc",
                            "HTTP/1.1 200 OK\r\nContent-Length: 0x3\r\n\r\nabc",
                            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nabc",
                            "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
                            "HTTP/1.1 200 OK\r\nA: b\n\r\n",
                            "HTTP/1.1 200\n\n",
                            "HTTP/1.1 20\r\n\r\n",
                            "HTTP/1.1 2000\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3 ;\r\nabc\r\n"
                            "0\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "10000000000000003\r\nabc\r\n0\r\n\r\n"}) {
    TestServer server(always(reply));
    auto client = make_http_client();
    EXPECT_EQ(kind_of(http_fetch(*client, request_to(server.url()))), "protocol") << reply;
  }
}

}  // namespace
}  // namespace praxis
