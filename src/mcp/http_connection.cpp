// The transport over HTTP ("Streamable HTTP"): each message is a POST of its own, answered by one JSON
// message or by a stream of them. Servers of earlier versions than 2026-07-28 may name a session, which later
// requests repeat.
#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <random>
#include <tuple>
#include <utility>

#include "mcp/access.hpp"
#include "mcp/argument_headers.hpp"
#include "mcp/connection.hpp"
#include "praxis/base/reach.hpp"
#include "praxis/net/sse.hpp"

namespace praxis {

/// How a stream ended, with what is needed to take it up again. Guarded by the mutex of the session, and
/// written before the request is settled.
struct McpStreamEnd {
  bool broke_off = false;
  std::string last_id;
  std::chrono::milliseconds retry{0};
  std::optional<OauthChallenge> challenge;  ///< the server wants a login, or one that allows more
};

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kQuietTime{10'000};  ///< for a message without an answer
constexpr std::chrono::milliseconds kLateTime{1'000};
/// How long a server may say nothing while a person thinks about its question.
constexpr std::chrono::milliseconds kOpenTime{24 * 3'600'000};
constexpr std::size_t kMaxSessionBytes = 1024;
constexpr int kGone = 404;

/// How often the stream of one answer is taken up again.
constexpr int kMostStreams = 100;
/// How many requests of the server are answered in one stream.
constexpr int kMostReplies = 100;
/// How long to wait before that: what the server says, within these bounds.
constexpr std::chrono::milliseconds kUsualRetry{1'000}, kLeastRetry{100}, kLongestRetry{60'000};

/// What connection and exchanges share.
struct HttpSession {
  std::mutex mutex;
  std::string id;       ///< as the server named it; may be empty
  std::string version;  ///< for the header; empty before the handshake
  bool modern = false;
  std::atomic<bool> open = true;
};

/// Sends the answers to requests of the server, for as long as the connection is there.
class Replies {
 public:
  explicit Replies(std::function<void(std::string)> send) : send_(std::move(send)) {}
  void send(std::string text) {
    const std::lock_guard lock(mutex_);
    if (send_) send_(std::move(text));
  }
  void end() {
    const std::lock_guard lock(mutex_);
    send_ = nullptr;
  }

 private:
  std::mutex mutex_;
  std::function<void(std::string)> send_;
};

/// One POST, or one GET that takes its stream up again. The answer goes to the waiting request as soon as it
/// is there; the rest of the stream is not awaited.
class Exchange final : public HttpSink {
 public:
  Exchange(std::int64_t id, const McpBounds& bounds, McpNotified notified,
           std::shared_ptr<HttpSession> session, std::shared_ptr<McpWaiting> waiting,
           std::shared_ptr<McpStreamEnd> end, std::shared_ptr<Replies> replies)
      : id_(id),
        bounds_(bounds),
        notified_(std::move(notified)),
        session_(std::move(session)),
        waiting_(std::move(waiting)),
        end_(std::move(end)),
        replies_(std::move(replies)),
        events_(bounds.message_bytes) {}

  void on_head(const HttpResponseHead& head) override {
    status_ = head.status;
    const std::string_view type = find_header(head.headers, "Content-Type").value_or("");
    streams_ = type.starts_with("text/event-stream");
    location_ = find_header(head.headers, "Location").value_or("");
    const auto session = find_header(head.headers, "Mcp-Session-Id");
    const std::lock_guard lock(session_->mutex);
    end_->challenge = read_challenge(head.status, head.headers);
    if (session && session->size() <= kMaxSessionBytes) session_->id = *session;
  }
  void on_body(std::string_view bytes) override {
    if (!streams_) {
      body_.append(bytes);
      return;
    }
    const auto fed = events_.feed(bytes, [this](const SseEvent& event) { take(event.data); });
    if (!fed) waiting_->settle(fail(with_reach(fed.error(), Reach::kSent)));
  }
  void on_done(Status status) override {
    note_end();
    if (!status) return waiting_->settle(fail(as_tool_error(std::move(status.error()))));
    if (!streams_ && !body_.empty()) take(body_);
    waiting_->settle(fail(without_answer()));
  }

 private:
  static Error as_tool_error(Error error) {
    if (error.code == ErrorCode::kModel) error.code = ErrorCode::kTool;
    return error;
  }

  /// A server with a handshake may close a stream with ids before its answer, which comes on another one.
  void note_end() {
    const std::lock_guard lock(session_->mutex);
    if (!streams_ || session_->modern || events_.last_id().empty()) return;
    end_->broke_off = true;
    end_->last_id = events_.last_id();
    end_->retry = std::clamp(events_.retry().value_or(kUsualRetry), kLeastRetry, kLongestRetry);
  }

  void take(std::string_view text) {
    const auto message =
        read_mcp_message(text, {.max_depth = bounds_.message_depth, .max_bytes = bounds_.message_bytes});
    if (!message) return;
    using Kind = McpMessage::Kind;
    if (message->kind == Kind::kRequest) {
      answer_request(*message);
    } else if (message->kind == Kind::kNotification && message->method == "notifications/progress") {
      if (json_at(message->body, "progressToken") == Json(id_)) waiting_->progress(message->body);
    } else if (message->kind == Kind::kNotification) {
      notified_(message->method);
    } else if (message->kind == Kind::kResult && message->id == Json(id_)) {
      waiting_->settle(message->body);
    } else if (message->kind == Kind::kError) {
      Error reported = mcp_reported(message->body, bounds_);
      reported.set("http_status", status_);
      waiting_->settle(fail(std::move(reported)));
    }
  }

  /// Only versions with a handshake have requests of the server.
  void answer_request(const McpMessage& message) {
    {
      const std::lock_guard lock(session_->mutex);
      if (session_->modern) return;
    }
    if (auto reply = mcp_reply_at_once(message, bounds_, waiting_.get()); reply && replied_++ < kMostReplies)
      replies_->send(*std::move(reply));
  }

  /// What happened if no message answered the request.
  Error without_answer() const {
    std::string text = "the server answered with HTTP " + std::to_string(status_);
    if (status_ >= 300 && status_ < 400) {
      text += ", a redirect to " + mcp_shown(location_, 200) +
              ", which is not followed; if that is the right address, write it as the url";
    } else if (status_ == 401 || status_ == 403) {
      text += ": it needs a token, or another one; `token_env` names the variable that holds it";
    } else if (status_ >= 200 && status_ < 300) {
      text += " and no result of the request";
    } else if (!body_.empty()) {
      text += ": " + mcp_shown(body_, 200);
    }
    // A server that has answered 2xx may have carried out the request; an error status says that it refused
    // it.
    const Reach reach = status_ >= 200 && status_ < 300 ? Reach::kSent : Reach::kAnswered;
    Error error = make_error(ErrorCode::kTool, ErrorKind::kProtocol, std::move(text));
    error.set("http_status", status_);
    if (status_ == kGone) {
      const std::lock_guard lock(session_->mutex);
      session_->open = session_->id.empty();  // the server has forgotten the session
    }
    return with_reach(std::move(error), reach);
  }

  const std::int64_t id_;
  const McpBounds bounds_;
  const McpNotified notified_;
  const std::shared_ptr<HttpSession> session_;
  const std::shared_ptr<McpWaiting> waiting_;
  const std::shared_ptr<McpStreamEnd> end_;
  const std::shared_ptr<Replies> replies_;
  int replied_ = 0;
  SseParser events_;
  int status_ = 0;
  bool streams_ = false;
  std::string location_;
  std::string body_;
};

class HttpMcpConnection final : public McpConnection {
 public:
  HttpMcpConnection(McpEndpoint endpoint, const McpBounds& bounds, McpNotified notified)
      : endpoint_(std::move(endpoint)), bounds_(bounds), notified_(std::move(notified)) {}
  ~HttpMcpConnection() override {
    replies_->end();
    over_.request_stop();
  }

  /// A request that is refused for lack of a login had no effect: it is made once more if the login can be
  /// renewed.
  Result<Json> request(const McpRequest& request) override {
    const std::string token = current_token();
    auto [answer, challenge] = ask(request, token);
    if (answer || !challenge || endpoint_.access == nullptr) return std::move(answer);
    const Status renewed = endpoint_.access->renew(token, *challenge, request.stop);
    if (!renewed) return fail(with_reach(renewed.error(), Reach::kAnswered));
    return ask(request, current_token()).answer;
  }
  Result<Json> go_on(const McpOpenRequest& open, Json answer, const McpRequest& request) override {
    send_quietly(mcp_reply(open.asked, std::move(answer)), "");
    return await(open, request);
  }
  void abandon(const McpOpenRequest& open) override {
    open.stream->request_stop();
    notify("notifications/cancelled", JsonObject{{"requestId", open.id}, {"reason", "not answered"}});
  }
  void notify(std::string_view method, Json params) override {
    send_quietly(mcp_notification(method, std::move(params)), std::string(method));
  }
  /// A stream of notifications would stay open for as long as the client: lists are fetched again instead.
  void request_quietly(std::string_view /*method*/, Json /*params*/) override {}
  bool is_open() const override { return session_->open; }
  void use_version(const std::string& version, bool modern) override {
    const std::lock_guard lock(session_->mutex);
    session_->version = version;
    session_->modern = modern;
  }

 private:
  struct Asked {
    Result<Json> answer;
    std::optional<OauthChallenge> challenge;
  };
  Asked ask(const McpRequest& request, const std::string& token) {
    const std::int64_t id = ++last_id_;
    JsonObject params = request.params;
    if (request.on_progress) {
      Json& meta = params["_meta"];
      if (!meta.is_object()) meta = JsonObject{};
      meta.get_object()["progressToken"] = id;
    }
    const McpOpenRequest sent = open_request(id, request);
    post(headers_of(request, token), mcp_request(id, request.method, std::move(params)), time_of(request),
         exchange_of(sent), sent.stream->get_token());
    auto answer = await(sent, request);
    const std::lock_guard lock(session_->mutex);
    return {std::move(answer), sent.end->challenge};
  }
  std::string current_token() const {
    return endpoint_.token.empty() && endpoint_.access != nullptr ? endpoint_.access->token()
                                                                  : endpoint_.token;
  }
  static McpOpenRequest open_request(std::int64_t id, const McpRequest& request) {
    return {id,
            {},
            std::make_shared<McpWaiting>(request.open != nullptr),
            std::make_shared<std::stop_source>(),
            std::make_shared<McpStreamEnd>()};
  }
  std::shared_ptr<Exchange> exchange_of(const McpOpenRequest& sent) const {
    return std::make_shared<Exchange>(sent.id, bounds_, notified_, session_, sent.waiting, sent.end,
                                      replies_);
  }

  static bool is_reported(const Error& error) { return json_int(error.detail(), "rpc_code") != 0; }
  /// How the stream ended, if it broke off and there is time to take it up again.
  std::optional<McpStreamEnd> break_off(const McpOpenRequest& sent, const Result<Json>& answer,
                                        const McpRequest& request) const {
    const bool is_late = request.deadline != Clock::time_point() && request.deadline <= Clock::now();
    if (answer || is_reported(answer.error()) || is_late || request.stop.stop_requested())
      return std::nullopt;
    const std::lock_guard lock(session_->mutex);
    return sent.end->broke_off ? std::optional(*sent.end) : std::nullopt;
  }
  /// Waits for the answer, also on further streams if the first breaks off.
  Result<Json> await(McpOpenRequest sent, const McpRequest& request) {
    auto answer = await_stream(sent, request);
    for (int streams = 1; streams < kMostStreams; ++streams) {
      const auto end = break_off(sent, answer, request);
      if (!end) return answer;
      const auto due = Clock::now() + end->retry;
      const bool is_late = request.deadline != Clock::time_point() && request.deadline < due;
      std::ignore =
          McpWaiting().wait({request.method, {}, {}, request.stop, is_late ? request.deadline : due});
      if (is_late || request.stop.stop_requested()) return given_up(sent, request);
      sent = open_request(sent.id, request);
      get(end->last_id, time_of(request), exchange_of(sent), sent.stream->get_token());
      answer = await_stream(sent, request);
      // The request has left, whatever the server says of its streams.
      if (!answer && !is_reported(answer.error()))
        answer = fail(with_reach(std::move(answer.error()), Reach::kSent));
    }
    return answer;
  }

  /// Waits for the answer on one stream. A request that stays open keeps its stream.
  Result<Json> await_stream(const McpOpenRequest& sent, const McpRequest& request) {
    const std::stop_callback ends(over_.get_token(), [&] { sent.stream->request_stop(); });
    auto answer = sent.waiting->wait(request);
    if (auto asked = sent.waiting->asked(); !answer && asked && request.open != nullptr) {
      *request.open = {sent.id, *std::move(asked), sent.waiting, sent.stream, sent.end};
      return Json(nullptr);
    }
    sent.stream->request_stop();  // closes the stream, which cancels a request
                                  // that has no answer yet
    if (answer) return *std::move(answer);
    return given_up(sent, request);
  }
  Result<Json> given_up(const McpOpenRequest& sent, const McpRequest& request) {
    if (!is_modern()) {
      notify("notifications/cancelled",
             JsonObject{{"requestId", sent.id}, {"reason", "stopped or out of time"}});
    }
    return fail(mcp_unanswered(request));
  }
  void send_quietly(std::string text, const std::string& method) {
    post(headers_of({method, {}, {}, {}, {}}, current_token()), std::move(text), kQuietTime,
         std::make_shared<Exchange>(0, bounds_, notified_, session_, std::make_shared<McpWaiting>(),
                                    std::make_shared<McpStreamEnd>(), replies_),
         over_.get_token());
  }
  bool is_modern() const {
    const std::lock_guard lock(session_->mutex);
    return session_->modern;
  }
  static std::chrono::milliseconds time_of(const McpRequest& request) {
    if (request.open != nullptr || request.deadline == Clock::time_point())
      return std::chrono::milliseconds{0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(request.deadline - Clock::now());
    // The caller's deadline passes first, so that the server hears of it.
    return std::max(left, std::chrono::milliseconds{1}) + kLateTime;
  }

  void post(HttpHeaders headers, std::string text, std::chrono::milliseconds total,
            std::shared_ptr<Exchange> exchange, std::stop_token stop) {
    HttpRequest http;
    http.method = "POST";
    http.headers = std::move(headers);
    http.body = std::make_shared<const std::string>(std::move(text));
    send(std::move(http), total, std::move(exchange), std::move(stop));
  }
  /// Takes up the stream that broke off after the event `last`.
  void get(const std::string& last, std::chrono::milliseconds total, std::shared_ptr<Exchange> exchange,
           std::stop_token stop) {
    HttpRequest http;
    http.headers = common_headers("text/event-stream", current_token());
    http.headers.emplace_back("Last-Event-ID", last);
    send(std::move(http), total, std::move(exchange), std::move(stop));
  }
  void send(HttpRequest http, std::chrono::milliseconds total, std::shared_ptr<Exchange> exchange,
            std::stop_token stop) {
    http.url = endpoint_.url;
    http.timeouts.total = total;
    if (total.count() == 0) http.timeouts.idle = kOpenTime;
    http.max_body_bytes = 4 * bounds_.message_bytes;
    http.allow_address = endpoint_.allow_address;
    http.use_proxy = endpoint_.use_proxy;
    endpoint_.http->send(std::move(http), std::move(exchange), std::move(stop));
  }

  HttpHeaders headers_of(const McpRequest& request, const std::string& token) const {
    HttpHeaders headers = common_headers("application/json, text/event-stream", token);
    headers.emplace_back("Content-Type", "application/json");
    if (!is_modern()) return headers;
    headers.emplace_back("Mcp-Method", request.method);
    if (!request.name.empty()) headers.emplace_back("Mcp-Name", mcp_header_value(request.name));
    headers.insert(headers.end(), request.headers.begin(), request.headers.end());
    return headers;
  }

  HttpHeaders common_headers(const std::string& accepted, const std::string& token) const {
    HttpHeaders headers{{"Accept", accepted}};
    if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
    const std::lock_guard lock(session_->mutex);
    if (!session_->version.empty()) headers.emplace_back("MCP-Protocol-Version", session_->version);
    if (!session_->id.empty()) headers.emplace_back("Mcp-Session-Id", session_->id);
    return headers;
  }

  const McpEndpoint endpoint_;
  const McpBounds bounds_;
  const McpNotified notified_;
  const std::shared_ptr<HttpSession> session_ = std::make_shared<HttpSession>();
  /// Does not begin with 1: another process may ask again what this one has asked, and a server may tell them
  /// apart by their ids only.
  std::atomic<std::int64_t> last_id_ = std::random_device{}();
  std::stop_source over_;
  const std::shared_ptr<Replies> replies_ =
      std::make_shared<Replies>([this](std::string text) { send_quietly(std::move(text), ""); });
};

}  // namespace

std::unique_ptr<McpConnection> connect_to_endpoint(const McpEndpoint& endpoint, const McpBounds& bounds,
                                                   McpNotified notified) {
  return std::make_unique<HttpMcpConnection>(endpoint, bounds, std::move(notified));
}

}  // namespace praxis
