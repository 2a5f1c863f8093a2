// A model endpoint that misbehaves as planned: the plan of one run, the server that carries it out, and the
// shim on the client's side.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bad_replies.hpp"
#include "net/testing/test_server.hpp"
#include "praxis/praxis.hpp"

namespace praxis::faults::endpoint {

constexpr std::size_t kMostSent = 100 * 1024 * 1024;  // of an endless answer
constexpr std::uint32_t kAttempts = 3;

/// The outcome of one request, as far as the server knows.
struct Served {
  const Misdeed* misdeed = nullptr;  ///< null: a good answer
  Hope hope = Hope::kWell;
  std::vector<std::string_view> kinds;
  Words words;  ///< of the answer that was sent, spoiled or not
  int times = 0;
  bool written = false;  ///< completely
  /// The client may have seen nothing of it, and may repeat the request at once.
  bool may_go_unseen = false;
};

/// One run, shared by both sides of the connection.
struct Plan {
  std::uint64_t seed = 0;
  std::string_view protocol;
  bool stream = false;
  /// `result` is what the tool returns, `again` the last prompt.
  std::string key, result, again;
  Words calling, answering, at_last;
  std::vector<const Misdeed*> misdeeds;  ///< by request; null: a good answer

  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::size_t, Served> served;  ///< by request
  std::size_t sent = 0;                  ///< requests that left the runtime
  bool behaves = false;                  ///< only good answers from now on
  std::string trouble;                   ///< problems that the server noticed

  const Misdeed* misdeed(std::size_t request) const {
    return behaves || request >= misdeeds.size() ? nullptr : misdeeds[request];
  }
  bool has(bool Misdeed::* what) const {
    return std::ranges::any_of(misdeeds, [&](const Misdeed* each) { return each != nullptr && each->*what; });
  }
};
using PlanPtr = std::shared_ptr<Plan>;

inline std::string letters(Random& random, std::size_t count) {
  std::string text;
  while (text.size() < count) text += static_cast<char>('a' + random.below(26));
  return text;
}

inline PlanPtr plan_of(std::uint64_t seed) {
  Random random(seed);
  auto plan = std::make_shared<Plan>();
  plan->seed = seed;
  plan->protocol = kProtocols[random.below(kProtocols.size())];
  plan->stream = !random.once_in(4);
  plan->key = "sk-" + letters(random, 40);
  plan->result = "result-" + letters(random, 12);
  plan->again = "again-" + letters(random, 12);
  plan->calling = {"Ich prüfe das → " + letters(random, 30 + random.below(60)), "note",
                   to_json_text(JsonObject{{"text", "naïve ☃ \"" + letters(random, 20)}})};
  plan->answering = {"Fertig: 漢字 " + letters(random, 30 + random.below(60)), {}, {}};
  plan->at_last = {"Ja. " + letters(random, 30), {}, {}};
  const Misdeed* same = &any_misdeed(random);
  for (std::uint64_t good = random.below(3); good > 0; --good) plan->misdeeds.push_back(nullptr);
  for (std::uint64_t bad = 1 + random.below(kAttempts + 1); bad > 0; --bad) {
    plan->misdeeds.push_back(same);
    if (random.once_in(2)) same = &any_misdeed(random);
  }
  return plan;
}

// ---- the server

/// Recognises the plan of a request by a mark that the client's shim adds.
class BadServer {
 public:
  BadServer() : server_([this](const TestRequest& request, TestConnection& to) { serve(request, to); }) {}

  std::string url() const { return server_.url("/v1"); }
  void follow(PlanPtr plan) {
    const std::lock_guard lock(mutex_);
    plan_ = std::move(plan);
  }

 private:
  void serve(const TestRequest& request, TestConnection& to) {
    const PlanPtr plan = [this] {
      const std::lock_guard lock(mutex_);
      return plan_;
    }();
    const auto seed = find_header(request.headers, "x-seed"),
               number = find_header(request.headers, "x-number");
    if (!seed || !number) {
      const std::lock_guard lock(plan->mutex);
      plan->trouble += "a request of no run: " + request.target + '\n';
      return to.close();
    }
    if (*seed != std::to_string(plan->seed)) return to.close();  // belongs to a run that has given up
    const std::size_t request_number = std::stoul(std::string(*number));
    const Reply reply = reply_to(*plan, request_number, request);
    if (!write_pieces(to, reply)) return to.close();
    {
      const std::lock_guard lock(plan->mutex);
      plan->served[request_number].written = true;
      plan->changed.notify_all();
    }
    end(to, reply, *plan);
  }

  static Reply reply_to(Plan& plan, std::size_t number, const TestRequest& request) {
    const std::lock_guard lock(plan.mutex);
    Random random(plan.seed * 1000 + number);
    Served& served = plan.served[number];
    ++served.times;
    served.words = request.body.contains(plan.again)    ? plan.at_last
                   : request.body.contains(plan.result) ? plan.answering
                                                        : plan.calling;
    if (request.target == "/elsewhere") plan.trouble += "a redirect was followed\n";
    const Scene scene = scene_of(plan, served.words, random);
    Reply reply =
        served.misdeed != nullptr ? served.misdeed->reply(scene, random) : good_reply(scene, random);
    served.hope = reply.hope;
    served.kinds = reply.kinds;
    served.may_go_unseen = reply.end == Reply::End::kReset || reply.pieces.empty() || reply.pieces[0].empty();
    return reply;
  }

  static Scene scene_of(const Plan& plan, const Words& words, Random& random) {
    const auto own = std::ranges::find(kProtocols, plan.protocol) - kProtocols.begin();
    const auto other =
        (static_cast<std::size_t>(own) + 1 + random.below(kProtocols.size() - 1)) % kProtocols.size();
    const Words poison{"poison " + letters(random, 20), "note", to_json_text(JsonObject{{"text", "poison"}})};
    return {plan.protocol,
            plan.stream,
            wire_answer(plan.protocol, plan.stream, words, random),
            wire_answer(plan.protocol, !plan.stream, words, random),
            wire_answer(kProtocols[other], plan.stream, words, random),
            http_reply(200, wire_answer(plan.protocol, false, poison, random).body()),
            plan.key};
  }

  static bool write(TestConnection& to, const Reply& reply, const std::string& piece) {
    if (reply.pause.count() != 0) std::this_thread::sleep_for(reply.pause);
    return to.write(piece);
  }

  static bool write_pieces(TestConnection& to, const Reply& reply) {
    return std::ranges::all_of(reply.pieces, [&](const auto& piece) { return write(to, reply, piece); });
  }

  static void end(TestConnection& to, const Reply& reply, Plan& plan) {
    using End = Reply::End;
    if (reply.end == End::kClose) to.close();
    if (reply.end == End::kReset) to.reset();
    if (reply.end == End::kSilence) to.wait_for_close();
    if (reply.end != End::kEndless) return;
    std::size_t sent = 0;
    while (sent < kMostSent && write(to, reply, reply.again)) sent += reply.again.size();
    if (sent >= kMostSent) {
      const std::lock_guard lock(plan.mutex);
      plan.trouble += "the client took " + std::to_string(sent) + " bytes\n";
    }
    to.close();
  }

  std::mutex mutex_;
  PlanPtr plan_;
  TestServer server_;
};

// ---- the client's side

/// The real client with a shim: it marks each request, sends those to be refused to an address where no
/// server listens, and shortens the time limits where the endpoint falls silent.
class Wire final : public HttpClient {
 public:
  Wire(std::shared_ptr<HttpClient> client, PlanPtr plan)
      : client_(std::move(client)), plan_(std::move(plan)) {}

  void send(HttpRequest request, std::shared_ptr<HttpSink> sink, std::stop_token stop) override {
    {
      std::unique_lock lock(plan_->mutex);
      await_poison(lock);
      Served& served = plan_->served[plan_->sent];
      served.misdeed = plan_->misdeed(plan_->sent);
      if (served.misdeed != nullptr && served.misdeed->waits) {  // possibly before the server reads it
        request.timeouts.first_byte = request.timeouts.idle = std::chrono::milliseconds(8);
        served.hope = Hope::kBadly;
        served.kinds = {"timeout"};
      }
      if (served.misdeed != nullptr && served.misdeed->refused) {
        request.url = "http://127.0.0.1:1/v1";
        served.hope = Hope::kBadly;
        served.kinds = {"network"};
      }
      request.headers.emplace_back("x-seed", std::to_string(plan_->seed));
      request.headers.emplace_back("x-number", std::to_string(plan_->sent++));
    }
    request.use_proxy = false;
    client_->send(std::move(request), std::move(sink), std::move(stop));
  }

 private:
  /// Waits until unsolicited bytes have arrived, before the connection is used again: once a request is under
  /// way, they could not be distinguished from its answer.
  void await_poison(std::unique_lock<std::mutex>& lock) const {
    if (plan_->sent == 0) return;
    const Served& before = plan_->served[plan_->sent - 1];
    if (before.misdeed == nullptr || !before.misdeed->poisons) return;
    plan_->changed.wait_for(lock, std::chrono::seconds(10), [&] { return before.written; });
  }

  const std::shared_ptr<HttpClient> client_;
  const PlanPtr plan_;
};

}  // namespace praxis::faults::endpoint
