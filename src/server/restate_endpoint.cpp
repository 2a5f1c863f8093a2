#include "server/restate_endpoint.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "app/hints.hpp"
#include "engines/restate/guard.hpp"
#include "engines/restate/service.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/json/json.hpp"
#include "server/runs.hpp"

namespace praxis::server {
namespace {

using restate::EngineLog;
using restate::Invocation;

constexpr std::string_view kPath = restate::kServicePath;
constexpr std::string_view kService = restate::kServiceName;
constexpr std::string_view kRunHandler = "run";    ///< one at a time for each root
constexpr std::string_view kWakeHandler = "wake";  ///< at any time
constexpr const char* kManifest = "application/vnd.restate.endpointmanifest.v4+json";
constexpr std::array<std::string_view, 2> kProtocols{"application/vnd.restate.invocation.v5",
                                                     "application/vnd.restate.invocation.v6"};
constexpr std::size_t kMostRequestBytes = 256 * 1024 * 1024;
constexpr std::chrono::milliseconds kCallTime{10'000};
constexpr std::chrono::milliseconds kBetweenTries{500};
constexpr int kMostTries = 40;

HttpAnswer plain(int status, std::string text) {
  return {status, {{"Content-Type", "text/plain"}}, std::move(text) + "\n"};
}

/// What this process offers to Restate.
Json manifest() {
  constexpr std::int64_t kSlowestRetry = 10'000;
  constexpr std::int64_t kMostAttempts = 1'000'000;
  JsonObject run{{"name", kRunHandler}, {"ty", "EXCLUSIVE"}}, wake{{"name", kWakeHandler}, {"ty", "SHARED"}};
  JsonObject service{{"name", kService},
                     {"ty", "VIRTUAL_OBJECT"},
                     {"handlers", JsonArray{std::move(run), std::move(wake)}},
                     {"journalRetention", 0},  // a turn that has ended is in the journal of Praxis
                     {"retryPolicyMaxInterval", kSlowestRetry},
                     {"retryPolicyMaxAttempts", kMostAttempts}};
  return JsonObject{{"protocolMode", "REQUEST_RESPONSE"},
                    {"minProtocolVersion", 5},
                    {"maxProtocolVersion", 6},
                    {"services", JsonArray{std::move(service)}}};
}

/// Whether a key is a session id (`Conversation::id`).
bool is_session_id(std::string_view key) {
  constexpr std::size_t kMost = 64;
  return !key.empty() && key.size() <= kMost && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

/// Answers Restate's requests.
class Requests : public std::enable_shared_from_this<Requests> {
 public:
  Requests(std::shared_ptr<Executor> executor, std::shared_ptr<EngineLog> log, const RestateOptions& options,
           RestateEndpoint::Warn warn)
      : executor_(std::move(executor)),
        log_(std::move(log)),
        token_(digest_of("Bearer " + options.token)),
        keys_(options.keys),
        warn_(std::move(warn)) {}

  void take(ReceivedRequest request, HttpReply reply) {
    const auto given = find_header(request.headers, "authorization");
    if (!given || digest_of(*given) != token_) {
      ++log_->counts()->wrong_tokens;
      return reply.send(plain(401, "the token is missing or wrong"));
    }
    if (!request.target.starts_with(kPath)) return reply.send(plain(404, "unknown path"));
    const std::string path = request.target.substr(kPath.size());
    if (auto known = check_signature(request.headers, path); !known) {
      ++log_->counts()->unknown_senders;
      return reply.send(plain(401, known.error().message));
    }
    if (path == "/discover") return discover(request, reply);
    const std::string invoke = "/invoke/" + std::string(kService) + "/";
    const std::string handler = path.starts_with(invoke) ? path.substr(invoke.size()) : "";
    if (handler != kRunHandler && handler != kWakeHandler) return reply.send(plain(404, "unknown path"));
    const std::string type(find_header(request.headers, "content-type").value_or(""));
    if (std::ranges::find(kProtocols, type) == kProtocols.end())
      return reply.send(plain(415, "this process speaks the service protocol 5 and 6"));
    executor_->post_blocking([self = shared_from_this(), body = std::move(request.body), type, reply,
                              wakes = handler == kWakeHandler] { self->invoke(body, type, reply, wakes); });
  }

 private:
  Status check_signature(const HttpHeaders& headers, std::string_view path) const {
    if (keys_.empty()) return {};
    return restate::check_sender(keys_,
                                 {.scheme = find_header(headers, restate::kSchemeHeader),
                                  .signature = find_header(headers, restate::kSignatureHeader),
                                  .path = path},
                                 system_environment()->now());
  }

  static void discover(const ReceivedRequest& request, const HttpReply& reply) {
    if (!find_header(request.headers, "accept").value_or("").contains(kManifest))
      return reply.send(plain(415, "this process needs Restate 1.6 or later"));
    reply.send({200, {{"Content-Type", kManifest}}, to_json_text(manifest())});
  }

  static HttpAnswer answer_of(std::string bytes, const std::string& type) {
    return {200, {{"Content-Type", type}, {"x-restate-server", "praxis"}}, std::move(bytes)};
  }

  void invoke(std::string_view body, const std::string& type, const HttpReply& reply, bool wakes) {
    auto invocation = restate::read_invocation(body);
    if (!invocation) {
      if (warn_) warn_("Restate sent what cannot be read: " + invocation.error().message);
      return reply.send(plain(400, invocation.error().message));
    }
    if (wakes || !is_session_id(invocation->key)) return answer_at_once(*invocation, type, reply, wakes);
    const SessionId root(invocation->key);
    const std::uint64_t number = log_->take(*std::move(invocation), [reply, type](std::string bytes) {
      reply.send(answer_of(std::move(bytes), type));
    });
    reply.on_gone([log = log_, root, number] { log->gone(root, number); });
  }

  void answer_at_once(const Invocation& invocation, const std::string& type, const HttpReply& reply,
                      bool wakes) {
    std::string bytes = wakes ? restate::wake(invocation) : restate::finish(invocation);
    if (auto good = restate::check_answer(invocation, bytes); !good) {
      ++log_->counts()->held_back;
      if (warn_) warn_(good.error().message);
      bytes = restate::refuse(good.error().message, std::chrono::seconds(1));
    }
    reply.send(answer_of(std::move(bytes), type));
  }

  const std::shared_ptr<Executor> executor_;
  const std::shared_ptr<EngineLog> log_;
  const Digest token_;
  const std::vector<restate::IdentityKey> keys_;
  const RestateEndpoint::Warn warn_;
};

/// Calls Restate.
class Calls : public std::enable_shared_from_this<Calls> {
 public:
  Calls(std::shared_ptr<Executor> executor, RestateOptions options, RestateEndpoint::Warn warn)
      : executor_(std::move(executor)),
        options_(std::move(options)),
        warn_(std::move(warn)),
        client_(make_http_client({}, executor_)) {}

  Status enrol() {
    const Json request =
        JsonObject{{"uri", options_.reached_at + std::string(kPath)},
                   {"use_http_11", true},
                   {"force", true},
                   {"additional_headers", JsonObject{{"authorization", "Bearer " + options_.token}}}};
    auto answer = post(options_.admin + "/deployments", to_json_text(request));
    if (!answer) {
      return fail(
          app::usage_error("Restate does not answer at " + options_.admin + ": " + answer.error().message,
                           "start it, or give its address: --engine-admin URL"));
    }
    if (answer->status / 100 == 2) return {};
    const std::string why = json_string(parse_json(answer->body).value_or(nullptr), "message");
    const bool is_unknown = !options_.keys.empty() && why.contains("'401");
    return fail(app::usage_error(
        "Restate refused to register this process (" + std::to_string(answer->status) + "): " + why,
        is_unknown ? "give the key that the log of Restate names at its start: --engine-identity-key KEY"
                   : "it must reach " + options_.reached_at + ", or another address: --engine-address URL"));
  }

  /// Sends a message to a handler of the object of a root, without waiting.
  void send(const SessionId& root, std::string_view handler) {
    executor_->post_blocking([self = shared_from_this(), root, handler = std::string(handler)] {
      const auto answer = self->post(self->options_.ingress + '/' + std::string(kService) + '/' + root.str() +
                                     '/' + handler + "/send");
      self->note(answer);
    });
  }

 private:
  Result<HttpResponse> post(std::string url, std::optional<std::string> json = std::nullopt) {
    HttpRequest request;
    request.method = "POST";
    request.url = std::move(url);
    if (json) {
      request.headers = {{"Content-Type", "application/json"}};
      request.body = std::make_shared<const std::string>(*std::move(json));
    }
    request.timeouts.total = kCallTime;
    request.use_proxy = false;
    return http_fetch(*client_, std::move(request));
  }

  /// Says once that Restate is gone, and once that it is back.
  void note(const Result<HttpResponse>& answer) {
    const bool is_good = answer && answer->status / 100 == 2;
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_reached_, is_good) == is_good || !warn_) return;
    const std::string why = answer ? "it answers " + std::to_string(answer->status) : answer.error().message;
    warn_(is_good ? "Restate answers again; runs continue"
                  : "runs wait for Restate at " + options_.ingress + ": " + why);
  }

  const std::shared_ptr<Executor> executor_;
  const RestateOptions options_;
  const RestateEndpoint::Warn warn_;
  const std::shared_ptr<HttpClient> client_;
  std::mutex mutex_;
  bool is_reached_ = true;
};

/// Continues a run in this process. Another process that just ended may count as alive for a moment.
void resume_left_run(const std::weak_ptr<Runs>& runs, const std::weak_ptr<Executor>& executor,
                     const SessionId& root, const RestateEndpoint::Warn& warn, int tries) {
  const auto living = runs.lock();
  if (!living) return;
  const auto resumed = living->resume(root);
  if (resumed || resumed.error().kind() == ErrorKind::kConflict) return;
  const auto loop = executor.lock();
  if (resumed.error().kind() == ErrorKind::kLeaseHeld && tries > 0 && loop) {
    loop->after(kBetweenTries, [runs, executor, root, warn, tries] {
      if (const auto still = executor.lock())
        still->post_blocking([=] { resume_left_run(runs, executor, root, warn, tries - 1); });
    });
    return;
  }
  if (warn) warn("run " + root.str() + " cannot continue: " + resumed.error().message);
}

restate::EngineLinks links_to(const std::shared_ptr<Executor>& executor, const std::shared_ptr<Calls>& calls,
                              const std::shared_ptr<Runs>& runs, const std::shared_ptr<Runtime>& runtime,
                              const RestateEndpoint::Warn& warn) {
  restate::EngineLinks links;
  const std::weak_ptr<Executor> loop = executor;
  const std::weak_ptr<Calls> weak_calls = calls;
  links.invoke = [weak_calls](const SessionId& root) {
    if (const auto living = weak_calls.lock()) living->send(root, kRunHandler);
  };
  links.wake = [weak_calls](const SessionId& root) {
    if (const auto living = weak_calls.lock()) living->send(root, kWakeHandler);
  };
  links.resume = [loop, runs = std::weak_ptr(runs), warn](const SessionId& root) {
    if (const auto living = loop.lock())
      living->post_blocking([=] { resume_left_run(runs, loop, root, warn, kMostTries); });
  };
  links.interrupt = [loop, runtime = std::weak_ptr(runtime)](const SessionId& root) {
    const auto living = loop.lock();
    if (!living) return;
    living->post_blocking([runtime, root] {
      const auto serving = runtime.lock();
      if (!serving) return;
      const Command interrupt{
          .verb = CommandVerb::kInterrupt, .target = root, .author = Author{"restate", Surface::kServer}};
      std::ignore = serving->command({interrupt});
    });
  };
  links.warn = warn;
  return links;
}

class Endpoint final : public RestateEndpoint {
 public:
  Endpoint(std::shared_ptr<Executor> executor, std::shared_ptr<Calls> calls, std::shared_ptr<EngineLog> log,
           std::shared_ptr<Runs> runs, std::unique_ptr<HttpServer> http)
      : executor_(std::move(executor)),
        calls_(std::move(calls)),
        log_(std::move(log)),
        runs_(std::move(runs)),
        http_(std::move(http)) {}
  ~Endpoint() override { log_->stop(); }

  void take_up() override {
    using namespace std::chrono_literals;
    const auto look = [log = std::weak_ptr(log_), runs = std::weak_ptr(runs_)] {
      const auto living = runs.lock();
      const auto at_engine = log.lock();
      if (!living || !at_engine) return;
      for (const SessionId& run : living->left(nullptr)) at_engine->take_up(run);
    };
    executor_->post_blocking(look);
    for (const auto later : {1'000ms, 4'000ms}) {
      executor_->after(later, [weak = std::weak_ptr(executor_), look] {
        if (const auto living = weak.lock()) living->post_blocking(look);
      });
    }
  }

 private:
  const std::shared_ptr<Executor> executor_;
  const std::shared_ptr<Calls> calls_;
  const std::shared_ptr<EngineLog> log_;
  const std::shared_ptr<Runs> runs_;
  const std::unique_ptr<HttpServer> http_;
};

}  // namespace

Result<std::unique_ptr<RestateEndpoint>> RestateEndpoint::start(const std::shared_ptr<Executor>& executor,
                                                                std::shared_ptr<EngineLog> log,
                                                                std::shared_ptr<Runs> runs,
                                                                std::shared_ptr<Runtime> runtime,
                                                                RestateOptions options, Warn warn) {
  options.http.bounds.body_bytes = kMostRequestBytes;
  const auto requests = std::make_shared<Requests>(executor, log, options, warn);
  auto http = HttpServer::start(executor, options.http, [requests](ReceivedRequest request, HttpReply reply) {
    requests->take(std::move(request), std::move(reply));
  });
  if (!http) return fail(http.error());
  if (options.reached_at.empty()) {
    const bool is_ipv6 = options.http.address.contains(':');
    options.reached_at = "http://" + (is_ipv6 ? '[' + options.http.address + ']' : options.http.address) +
                         ':' + std::to_string((*http)->port());
  }
  const auto calls = std::make_shared<Calls>(executor, std::move(options), warn);
  log->connect(links_to(executor, calls, runs, runtime, warn));
  if (auto enrolled = calls->enrol(); !enrolled) return fail(enrolled.error());
  return std::make_unique<Endpoint>(executor, calls, std::move(log), std::move(runs), *std::move(http));
}

}  // namespace praxis::server
