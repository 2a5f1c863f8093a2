#include "server/server.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "app/open_runtime.hpp"
#include "base/ascii.hpp"
#include "engines/restate/restate_journal.hpp"
#include "praxis/journal/postgres_journal.hpp"
#include "server/a2a_errors.hpp"
#include "server/a2a_push.hpp"
#include "server/event_channel.hpp"
#include "server/handlers.hpp"
#include "server/mcp_errors.hpp"
#include "server/openai.hpp"
#include "server/own_executor.hpp"
#include "server/piece_relay.hpp"
#include "server/route_rights.hpp"
#include "server/routes.hpp"
#include "server/schedule_thread.hpp"

namespace praxis::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Millis kLoginTime = std::chrono::minutes(1);  // for the browser to start

/// Answers requests. Shared with the requests in progress, which may outlive the server.
class Dispatcher : public std::enable_shared_from_this<Dispatcher> {
 public:
  Dispatcher(std::shared_ptr<Service> service, Access access, std::shared_ptr<Load> load,
             std::shared_ptr<Executor> executor, std::function<void(const std::string&)> log)
      : service_(std::move(service)),
        load_(std::move(load)),
        access_(std::move(access)),
        executor_(std::move(executor)),
        log_(std::move(log)) {}

  /// On the I/O thread.
  void take(ReceivedRequest request, HttpReply reply) {
    executor_->post_blocking(
        [self = shared_from_this(), request = std::move(request), reply = std::move(reply)]() mutable {
          self->answer(std::move(request), reply);
        });
  }

 private:
  struct Context {
    std::string method, target, origin, principal, role = {};
    const Route* route = nullptr;
    Clock::time_point begun = Clock::now();
  };

  void answer(ReceivedRequest request, const HttpReply& reply) {
    Context context{request.method, request.target.substr(0, request.target.find('?')),
                    std::string(find_header(request.headers, "origin").value_or("")), ""};
    reply.add_headers(headers_for(context));
    if (auto refusal = access_.refuse(request.headers))
      return send(last_answer(problem(refusal->status, refusal->error)), context, reply);
    if (request.method == "OPTIONS" && !context.origin.empty()) return send(preflight(), context, reply);
    auto call = parse_call(std::move(request));
    if (!call) return send(last_answer(problem(call.error())), context, reply);
    std::string allowed;
    const Route* const route = find_route(*call, allowed);
    if (route == nullptr || route->needs_token) {  // who has no token does not learn which paths exist
      auto principal = access_.principal_of(call->headers);
      if (!principal)
        return send(problem(Access::status_of(principal.error()), principal.error()), context, reply);
      call->principal = *std::move(principal);
      call->principal.span = span_of(call->headers);
      context.principal = call->principal.name;
      if (auto taken = load_->take(call->principal.account(), call->body.size()); !taken)
        return send(problem(taken.error()), context, reply);
    }
    if (route == nullptr) return send(no_route(allowed, context), context, reply);
    context.route = route;
    context.role = call->principal.role;
    if (auto may = may_use(*route, call->principal); !may)
      return send(refused(may.error(), context), context, reply);
    if (!std::holds_alternative<Handler>(route->handler)) call->answer = later_answer(context, reply);
    run(*route, *call, context, reply);
  }

  /// The span that a client names; several headers `tracestate` are one list.
  static TraceContext span_of(const HttpHeaders& headers) {
    std::string state;
    for (const auto& [name, value] : headers) {
      if (lower_case(name) == "tracestate") state += (state.empty() ? "" : ",") + value;
    }
    return trace_from_header(find_header(headers, "traceparent").value_or(""), state)
        .value_or(TraceContext{});
  }

  static Status may_use(const Route& route, const Principal& principal) {
    const auto needs = needs_of(route);
    const Right* const right = needs ? std::get_if<Right>(&*needs) : nullptr;
    if (right != nullptr) return check_right(principal, *right);
    return needs ? Status() : check_right(principal, Right::kAdminister);
  }

  /// Answers when the handler has returned. Keeps the service.
  std::function<void(Result<HttpAnswer>)> later_answer(const Context& context, const HttpReply& reply) {
    return [self = shared_from_this(), context, reply](Result<HttpAnswer> answer) {
      self->send(answer ? *std::move(answer) : refused(answer.error(), context), context, reply);
    };
  }

  void run(const Route& route, const Call& call, const Context& context, const HttpReply& reply) {
    if (const auto* handler = std::get_if<LaterHandler>(&route.handler)) {
      if (auto begun = (*handler)(*service_, call); !begun)
        send(refused(begun.error(), context), context, reply);
      return;
    }
    if (const auto* handler = std::get_if<Handler>(&route.handler)) {
      auto answer = (*handler)(*service_, call);
      return send(answer ? *std::move(answer) : refused(answer.error(), context), context, reply);
    }
    if (service_->draining) {
      return send(problem(make_error(ErrorCode::kCancelled, "the server is shutting down")), context, reply);
    }
    const bool is_socket = route.has_socket && asks_for_socket(call);
    if (auto refusal = is_socket ? refuse_socket(call) : std::nullopt) return send(*refusal, context, reply);
    if (!call.principal.token.empty()) {
      const auto needs = needs_of(route);
      const Right* const right = needs ? std::get_if<Right>(&*needs) : nullptr;
      service_->streams.add(call.principal, right, is_socket, reply);
    }
    if (auto begun = std::get<StreamHandler>(route.handler)(*service_, call, reply); !begun)
      return send(refused(begun.error(), context), context, reply);
    note(is_socket ? 101 : 200, context);
  }

  /// Tells the audit what was refused because of a right.
  void note_refusal(const HttpAnswer& answer, const Context& context) {
    if (answer.status != 403 || context.route == nullptr || !service_->refusals) return;
    const Json body = parse_json(answer.body).value_or(nullptr);
    const Json& facts = is_mcp(context) ? json_at(json_at(body, "error"), "data") : body;
    const std::string right = json_string(facts, "right");
    if (right.empty()) return;
    service_->refusals->note(
        {.time = service_->runtime->environment().now(),
         .principal = context.principal,
         .role = context.role,
         .right = right,
         .route = std::string(context.route->method) + ' ' + std::string(context.route->path)});
  }

  static bool is_a2a(const Context& context) { return context.target.starts_with("/a2a/"); }
  static bool is_mcp(const Context& context) { return context.target == "/mcp"; }
  /// In the form of MCP or A2A for an error of one of their operations.
  static HttpAnswer refused(const Error& error, const Context& context) {
    if (is_mcp(context)) return mcp_problem(error);
    const bool is_plain = !is_a2a(context) || json_at(error.detail(), "right").is_string();
    return is_plain ? problem(error) : a2a_problem(error);
  }

  /// A client that addresses another server, or in a form that others may read in another way, gets no
  /// further request of the connection answered.
  static HttpAnswer last_answer(HttpAnswer answer) {
    answer.ends_connection = true;
    return answer;
  }

  /// Whether the answer is a refusal that was made before a handler, or without it.
  static bool is_problem(const HttpAnswer& answer) {
    const auto media = find_header(answer.headers, "content-type");
    return media && *media == "application/problem+json";
  }

  static HttpAnswer no_route(const std::string& allowed, const Context& context) {
    if (allowed.empty()) return problem(not_found("path", context.target));
    HttpAnswer answer =
        problem(405, make_error(ErrorCode::kInput, context.target + " knows only " + allowed));
    answer.headers.emplace_back("Allow", allowed);
    return answer;
  }

  static HttpAnswer preflight() {
    return {204,
            {{"Access-Control-Allow-Methods", "GET, POST, DELETE"},
             {"Access-Control-Allow-Headers",
              "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, A2A-Version, A2A-Extensions, "
              "traceparent, tracestate, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name"},
             {"Access-Control-Max-Age", "600"}},
            ""};
  }

  /// The headers of every answer, streams too.
  HttpHeaders headers_for(const Context& context) const {
    HttpHeaders headers{{"X-Content-Type-Options", "nosniff"}};
    if (access_.allows_origin(context.origin)) {
      headers.emplace_back("Access-Control-Allow-Origin", context.origin);
      headers.emplace_back("Vary", "Origin");
      if (is_mcp(context)) headers.emplace_back("Access-Control-Expose-Headers", "Mcp-Session-Id");
    }
    return headers;
  }

  void send(HttpAnswer answer, const Context& context, const HttpReply& reply) {
    if (answer.status >= 400) {
      note_refusal(answer, context);
      answer.body = app::redaction_of_errors().json_text(std::move(answer.body));
      if (context.target.starts_with("/v1/")) answer = openai_error(answer);
      if (is_a2a(context) && is_problem(answer)) answer = a2a_problem(answer);
      if (is_mcp(context) && is_problem(answer)) answer = mcp_problem(answer);
    }
    note(answer.status, context);
    reply.send(std::move(answer));
  }

  void note(int status, const Context& context) {
    ++service_->counters.answers.at(static_cast<std::size_t>(std::clamp(status / 100, 1, 5)));
    if (!log_) return;
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - context.begun);
    log_(to_json_text(JsonObject{{"time", to_iso8601(service_->runtime->environment().now())},
                                 {"principal", context.principal},
                                 {"method", context.method},
                                 {"path", context.target},
                                 {"status", status},
                                 {"microseconds", took.count()}}));
  }

  const std::shared_ptr<Service> service_;
  const std::shared_ptr<Load> load_;
  const Access access_;
  const std::shared_ptr<Executor> executor_;
  const std::function<void(const std::string&)> log_;
};

/// Calls `look` on a worker every five seconds, as long as the executor lives.
void keep_looking(const std::shared_ptr<Executor>& executor, const std::function<void()>& look) {
  executor->after(std::chrono::seconds(5), [weak = std::weak_ptr(executor), look] {
    const auto living = weak.lock();
    if (!living) return;
    living->post_blocking(look);
    keep_looking(living, look);
  });
}

/// What a server does now and then on workers. At its end it waits for what is under way: a worker must not
/// outlast the process.
class Looks {
 public:
  void run(const std::function<void()>& look) {
    const std::lock_guard lock(mutex_);
    if (!ended_) look();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }

 private:
  std::mutex mutex_;
  bool ended_ = false;
};

/// Continues the runs that a process left. A process that just ended may count as alive for a moment, so it
/// looks again; for ever if other machines share the journal.
void take_up(const std::shared_ptr<Runs>& runs, const std::shared_ptr<Executor>& executor,
             const std::shared_ptr<Looks>& looks, bool is_shared,
             std::function<void(const std::string&)> warn) {
  using namespace std::chrono_literals;
  struct Told {
    std::mutex mutex;
    std::set<std::string> texts;
  };
  const auto warn_once = [told = std::make_shared<Told>(), warn = std::move(warn)](const std::string& text) {
    const std::lock_guard lock(told->mutex);
    if (told->texts.insert(text).second && warn) warn(text);
  };
  const auto look = [weak = std::weak_ptr(runs), looks, warn_once] {
    looks->run([&] {
      if (const auto living = weak.lock()) living->take_up(warn_once);
    });
  };
  executor->post_blocking(look);
  if (is_shared) return keep_looking(executor, look);
  for (const auto later : {1'000ms, 4'000ms}) {
    executor->after(later, [weak = std::weak_ptr(executor), look] {
      if (const auto living = weak.lock()) living->post_blocking(look);
    });
  }
}

/// As long as the service lives, ends the answers for tokens that do not stand any more, and keeps the keys
/// of the identity provider fresh.
void watch_tokens(const std::shared_ptr<Executor>& executor, const std::weak_ptr<Service>& service,
                  const std::weak_ptr<TokenBook>& book, const std::weak_ptr<OidcProvider>& oidc) {
  // The provider holds the executor, which must not live on for a timer of its own.
  executor->after(std::chrono::seconds(1), [weak = std::weak_ptr(executor), service, book, oidc] {
    const auto living = weak.lock();
    if (!living || service.expired()) return;
    living->post_blocking([service, book] {
      const auto serving = service.lock();
      const auto tokens = book.lock();
      if (serving && tokens) serving->streams.end_unless(*tokens);
    });
    if (!oidc.expired()) {
      living->post_blocking([oidc] {
        if (const auto provider = oidc.lock()) provider->refresh();
      });
    }
    watch_tokens(living, service, book, oidc);
  });
}

class RunningServer final : public Server {
 public:
  RunningServer(std::shared_ptr<Executor> executor, std::shared_ptr<Service> service,
                std::shared_ptr<Dispatcher> dispatcher, std::unique_ptr<HttpServer> http,
                std::shared_ptr<Looks> looks, std::unique_ptr<RestateEndpoint> engine,
                std::unique_ptr<PieceRelay> relay, std::shared_ptr<OidcProvider> oidc,
                ScheduleThread::Warn warn)
      : executor_(std::move(executor)),
        service_(std::move(service)),
        dispatcher_(std::move(dispatcher)),
        http_(std::move(http)),
        looks_(std::move(looks)),
        engine_(std::move(engine)),
        relay_(std::move(relay)),
        oidc_(std::move(oidc)),
        schedules_(*service_->workspace, service_->runs, system_environment(), std::move(warn)) {}
  ~RunningServer() override {
    service_->draining = true;
    service_->mcp->stop();
    if (service_->push) service_->push->stop();
    service_->feed->stop();
    if (oidc_) oidc_->stop();
    relay_.reset();
    http_.reset();
    engine_.reset();
    looks_->end();
  }

  void take(ReceivedRequest request, HttpReply reply) override {
    dispatcher_->take(std::move(request), std::move(reply));
  }
  std::uint16_t port() const override { return http_->port(); }

  void drain(std::chrono::milliseconds grace) override {
    service_->draining = true;
    service_->mcp->stop();
    http_->drain();
    service_->feed->stop();
    const auto until = Clock::now() + grace;
    constexpr std::chrono::milliseconds kBetweenLooks{20};
    while (service_->runtime->health().running > 0 && Clock::now() < until)
      std::this_thread::sleep_for(kBetweenLooks);
  }

 private:
  const OwnExecutor executor_;  // destroyed last
  const std::shared_ptr<Service> service_;
  const std::shared_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<HttpServer> http_;
  const std::shared_ptr<Looks> looks_;
  std::unique_ptr<RestateEndpoint> engine_;   ///< null: turns run in this process alone
  std::unique_ptr<PieceRelay> relay_;         ///< null: the journal has no other servers
  const std::shared_ptr<OidcProvider> oidc_;  ///< null: no identity provider
  ScheduleThread schedules_;
};

/// With `engine_log`, running turns are at an engine, and it is set to their log there.
Result<std::shared_ptr<Runtime>> open_runtime_for(const app::Workspace& place,
                                                  const std::shared_ptr<Executor>& executor,
                                                  std::shared_ptr<restate::EngineLog>* engine_log) {
  app::RuntimeUse use{
      .principal = Author{"server", Surface::kServer}, .begin_queued_turns = true, .executor = executor};
  if (engine_log != nullptr) {
    use.journal = [&](std::shared_ptr<Journal> store) {
      *engine_log = std::make_shared<restate::EngineLog>(store, executor, system_environment());
      return restate::restate_journal(std::move(store), *engine_log);
    };
  }
  return app::open_runtime(place, use);
}

/// Carries deltas to and from the other servers of the journal; null if it has no others.
std::unique_ptr<PieceRelay> relay_of(Service& service, const ScheduleThread::Warn& warn) {
  const std::string& journal = service.workspace->journal;
  if (!is_postgres_address(journal)) return nullptr;
  service.relayed = std::make_shared<RelayCounts>();
  return std::make_unique<PieceRelay>(journal, service.runtime->environment().new_id(), service.feed,
                                      service.runs, service.relayed, warn);
}

/// Continues the push notifications that clients asked for, if the rules name a host. Errors of
/// `A2aPush::open`.
Status begin_push(Service& service, const std::shared_ptr<Executor>& executor, PushRules rules,
                  const A2aPush::Warn& warn) {
  auto push = A2aPush::open(*service.workspace, std::move(rules), {service.journal, service.runs},
                            service.feed, executor, warn);
  if (!push) return fail(push.error());
  service.push = *std::move(push);
  return service.push ? service.push->start() : Status();
}

std::shared_ptr<LoginCode> login_of(const ServerOptions& options, UnixMillis now) {
  if (options.login_code.empty()) return nullptr;
  return std::make_shared<LoginCode>(options.login_code, options.login_token, now + kLoginTime);
}

/// The identity provider that the options name, with its keys if it can be reached; null: none is named.
/// Errors of `OidcProvider::open`.
Result<std::shared_ptr<OidcProvider>> oidc_of(const ServerOptions& options,
                                              const std::shared_ptr<Executor>& executor) {
  if (options.oidc.issuer.empty() && options.oidc.audience.empty()) return nullptr;
  auto oidc =
      OidcProvider::open(options.oidc, make_http_client({}, executor), system_environment(), options.warn);
  if (oidc) (*oidc)->refresh();
  return oidc;
}

Result<std::shared_ptr<TokenBook>> book_of(const ServerOptions& options,
                                           const std::shared_ptr<OidcProvider>& oidc) {
  auto book = std::make_shared<TokenBook>(options.access.tokens, options.access.files, system_environment(),
                                          options.warn, oidc);
  if (auto loaded = book->load(); !loaded) return fail(loaded.error());
  return book;
}

/// Answers requests that cannot be read.
auto refusal_of(const std::shared_ptr<Service>& service) {
  return [service](int status, const std::string& reason) {
    ++service->counters.answers.at(static_cast<std::size_t>(status / 100));
    return problem(status, make_error(ErrorCode::kInput, reason));
  };
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(app::Workspace workspace, ServerOptions options) {
  const AccessFiles& files = options.access.files;
  const auto executor = make_executor();
  auto oidc = oidc_of(options, executor);
  if (!oidc) return fail(oidc.error());
  auto book = book_of(options, *oidc);
  if (!book) return fail(book.error());
  const auto place = std::make_shared<const app::Workspace>(std::move(workspace));
  std::shared_ptr<restate::EngineLog> engine_log;
  auto runtime = open_runtime_for(*place, executor, options.restate ? &engine_log : nullptr);
  if (!runtime) return fail(runtime.error());
  const std::shared_ptr<Journal> journal(*runtime, &(*runtime)->journal());
  const auto load = std::make_shared<Load>(options.load, system_environment());
  auto runs = std::make_shared<Runs>(place, *runtime, journal, executor, load, options.patience);
  runs->start();
  const auto folds = std::make_shared<Folds>(journal);
  const app::Redactions redactions(*place);
  const auto redaction_of_events = redaction_of_sessions(redactions, journal, &RedactRules::events);
  const auto shown_filters = shown_filters_of_sessions(redactions, journal);
  auto feed =
      std::make_shared<EventFeed>(*runtime, journal, executor, folds, redaction_of_events, shown_filters);
  const auto service = std::make_shared<Service>(
      place, *runtime, journal, runs, feed, std::make_shared<BlobReferences>(journal), folds,
      std::make_shared<Trees>(journal, folds), std::make_shared<Conversations>(runs, journal, *runtime));
  service->mcp = std::make_shared<McpSessions>(system_environment());
  if (engine_log) service->engine = engine_log->counts();
  service->redactions = redactions;
  service->redaction_of_events = redaction_of_events;
  service->shown_filters_of = shown_filters;
  if (!files.state_folder.empty())
    service->refusals = std::make_shared<Refusals>(files.state_folder, options.warn);
  service->login = login_of(options, (*runtime)->environment().now());
  auto relay = relay_of(*service, options.warn);
  feed->start();
  if (auto begun = begin_push(*service, executor, std::move(options.push), options.warn); !begun)
    return fail(begun.error());
  options.http.warn = options.warn;
  options.http.refuse = refusal_of(service);
  watch_tokens(executor, service, *book, *oidc);
  auto dispatcher = std::make_shared<Dispatcher>(service, Access(std::move(options.access), *std::move(book)),
                                                 load, executor, std::move(options.log));
  auto http = HttpServer::start(executor, std::move(options.http),
                                [dispatcher](ReceivedRequest request, HttpReply reply) {
                                  dispatcher->take(std::move(request), std::move(reply));
                                });
  if (!http) return fail(http.error());
  const auto looks = std::make_shared<Looks>();
  std::unique_ptr<RestateEndpoint> engine;
  if (options.restate) {
    auto begun = RestateEndpoint::start(executor, engine_log, runs, *runtime, *std::move(options.restate),
                                        options.warn);
    if (!begun) return fail(begun.error());
    engine = *std::move(begun);
    if (options.take_up) engine->take_up();
  } else if (options.take_up)
    take_up(runs, executor, looks, is_postgres_address(service->workspace->journal), options.warn);
  return std::make_unique<RunningServer>(executor, service, dispatcher, *std::move(http), looks,
                                         std::move(engine), std::move(relay), *std::move(oidc),
                                         std::move(options.warn));
}

}  // namespace praxis::server
