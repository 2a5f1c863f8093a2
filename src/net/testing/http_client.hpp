// For tests of the HTTP client: requests, handlers of a test server, and a sink that records its callbacks.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <string_view>
#include <utility>

#include "net/testing/test_server.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

using namespace std::chrono_literals;

inline constexpr auto kShort = 50ms;  // a limit that the test reaches
inline constexpr auto kLong = 30s;    // a limit that the test does not reach

inline HttpRequest request_to(std::string url) {
  HttpRequest request;
  request.url = std::move(url);
  request.use_proxy = false;
  request.timeouts = {kLong, kLong, kLong, 0ms};
  return request;
}

inline HttpRequest post_to(std::string url, std::string body) {
  HttpRequest request = request_to(std::move(url));
  request.method = "POST";
  request.body = std::make_shared<const std::string>(std::move(body));
  return request;
}

template <class T>
std::string kind_of(const Result<T>& result) {
  if (result) return "no error";
  const Error& error = result.error();
  return std::string(error.kind() == ErrorKind::kNone ? to_string(error.code) : to_string(error.kind()));
}

inline TestServer::Handler always(std::string reply) {
  return [reply](const TestRequest&, TestConnection& to) { to.write(reply); };
}
inline TestServer::Handler once_then_close(std::string reply) {
  return [reply](const TestRequest&, TestConnection& to) {
    to.write(reply);
    to.close();
  };
}

/// Records callbacks; `at_head` and `at_body` run on the I/O thread.
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

}  // namespace praxis
