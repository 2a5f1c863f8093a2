// Restate as the server sees it, played in the process of the test: it takes the registration, and carries
// out what is sent to its ingress by requests to the server, on a thread of its own.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "engines/restate/identity.hpp"
#include "engines/restate/testing/fake_engine.hpp"
#include "engines/restate/testing/signed.hpp"
#include "net/http_server.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/json/json.hpp"

namespace praxis::server::testing {

class PlayedRestate {
 public:
  using Engine = restate::testing::FakeEngine;

  PlayedRestate() {
    auto started = HttpServer::start(executor_, {}, [this](ReceivedRequest request, const HttpReply& reply) {
      reply.send(take(std::move(request)));
    });
    if (started) http_ = *std::move(started);
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }
  ~PlayedRestate() {
    thread_.request_stop();
    there_is_more_.notify_all();
    thread_.join();
    http_.reset();
  }
  PlayedRestate(const PlayedRestate&) = delete;
  PlayedRestate& operator=(const PlayedRestate&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(http_->port()); }
  /// Registrations get this status.
  void answer_registrations(int status) { registration_status_ = status; }
  Json registered() {
    const std::lock_guard lock(mutex_);
    return registered_;
  }
  /// Sends a request to the server, as Restate does, signed with `kSigningKey` unless `headers` say
  /// otherwise; also on the test's thread.
  Result<HttpResponse> send(const std::string& method, const std::string& path, std::string body = {},
                            HttpHeaders headers = {}) {
    HttpRequest request;
    request.method = method;
    const Json all = registered();
    request.url = json_string(all, "uri") + path;
    request.headers = std::move(headers);
    if (!find_header(request.headers, "authorization"))
      request.headers.emplace_back("authorization",
                                   json_string(json_at(all, "additional_headers"), "authorization"));
    if (!find_header(request.headers, restate::kSchemeHeader)) {
      request.headers.emplace_back(restate::kSchemeHeader, "v1");
      request.headers.emplace_back(restate::kSignatureHeader,
                                   restate::testing::token_for(path, system_environment()->now()));
    }
    if (!body.empty()) request.body = std::make_shared<const std::string>(std::move(body));
    request.use_proxy = false;
    return http_fetch(*client_, std::move(request), thread_.get_stop_token());
  }
  /// The body of the answer to an invocation.
  Result<std::string> invoke(const std::string& handler, std::string body) {
    auto answer = send("POST", "/invoke/praxis/" + handler, std::move(body), {{"content-type", kProtocol}});
    if (!answer) return fail(answer.error());
    if (answer->status != 200) return fail(ErrorCode::kInput, answer->body);
    return std::move(answer->body);
  }
  static constexpr const char* kProtocol = "application/vnd.restate.invocation.v6";

 private:
  struct Message {
    std::string key, handler;
  };

  HttpAnswer take(ReceivedRequest request) {
    const std::lock_guard lock(mutex_);
    if (request.target == "/deployments") {
      registered_ = parse_json(request.body).value_or(nullptr);
      return {registration_status_, {}, R"({"message":"the reason"})"};
    }
    const std::string_view prefix = "/praxis/", end = "/send";
    std::string_view path = request.target;
    EXPECT_TRUE(path.starts_with(prefix) && path.ends_with(end)) << path;
    path = path.substr(prefix.size(), path.size() - prefix.size() - end.size());
    const std::size_t slash = std::min(path.find('/'), path.size() - 1);
    messages_.push_back({std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))});
    there_is_more_.notify_all();
    return {202, {}, "{}"};
  }

  void work(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      Message message;
      {
        std::unique_lock lock(mutex_);
        there_is_more_.wait(lock, [&] { return stop.stop_requested() || !messages_.empty(); });
        if (stop.stop_requested()) return;
        message = std::move(messages_.front());
        messages_.pop_front();
      }
      const auto known = engines_.find(message.key);
      const bool is_open = known != engines_.end() && known->second.end() != Engine::End::kEnded;
      if (message.handler == "wake" && is_open) wake(known->second);
      if (message.handler != "run" || is_open) continue;
      engines_.insert_or_assign(message.key, Engine(message.key, next_id_++));
      run(engines_.at(message.key), stop);
    }
  }

  void wake(Engine& engine) {
    const auto answer = invoke("wake", engine.wake_body());
    if (!answer) return;
    const auto frames = restate::read_frames(*answer);
    const bool completes = frames && frames->front().type == restate::FrameType::kCompleteAwakeable;
    // Otherwise a request before it was cut off, which Restate makes again.
    if (completes) engine.signal(engine.request().next_signal);
    run(engine, thread_.get_stop_token());
  }

  /// Makes requests until the invocation is suspended without a batch, or ends.
  void run(Engine& engine, const std::stop_token& stop) {
    for (std::size_t batches = engine.batches() + 1; batches != engine.batches() && !stop.stop_requested();) {
      batches = engine.batches();
      const auto answer = invoke("run", engine.body());
      if (!answer) return;  // the server is gone
      engine.take(*answer);
      if (engine.end() == Engine::End::kEnded) return;
    }
  }

  const std::shared_ptr<Executor> executor_ = make_executor();
  const std::shared_ptr<HttpClient> client_ = make_http_client();
  std::mutex mutex_;  // guards the next members
  std::condition_variable there_is_more_;
  std::deque<Message> messages_;
  Json registered_ = nullptr;
  std::atomic<int> registration_status_ = 201;
  std::map<std::string, Engine> engines_;  // by key; of the thread
  char next_id_ = 'a';                     // of the thread
  std::unique_ptr<HttpServer> http_;
  std::jthread thread_;
};

}  // namespace praxis::server::testing
