#include "tools/a2a_client.hpp"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <tuple>
#include <utility>

#include "praxis/base/reach.hpp"
#include "praxis/net/sse.hpp"
#include "tools/trace_headers.hpp"

namespace praxis::a2a {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kCardPath = "/.well-known/agent-card.json";
constexpr std::chrono::milliseconds kCancelTime{1'000};
constexpr std::chrono::milliseconds kStreamIdle{60'000};  ///< then the task is asked for again

std::chrono::milliseconds left_of(const Patience& patience) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(patience.deadline - Clock::now());
  return std::max(left, std::chrono::milliseconds{1});
}

/// An id as a segment of a path.
std::string path_segment(std::string_view id) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string made;
  for (const char c : id) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("-._~").contains(c);
    const auto byte = static_cast<unsigned char>(c);
    if (is_plain) {
      made += c;
    } else {
      made += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return made;
}

Error as_tool_error(Error error) {
  if (error.code == ErrorCode::kModel) error.code = ErrorCode::kTool;
  return error;
}

Error broken(std::string why, Reach reach) {
  return with_reach(make_error(ErrorCode::kTool, ErrorKind::kProtocol, std::move(why)), reach);
}

/// Shared by the thread that waits and the stream.
struct Watched {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool is_over = false;
  bool has_changed = false;
  std::optional<std::string> said;
};

/// Reads a stream of changes of one task. It wakes the waiting thread; what the task has become is asked for
/// again, so that no stream has to be complete.
class ChangeStream final : public HttpSink {
 public:
  ChangeStream(std::shared_ptr<Watched> watched, std::string mark, bool is_rpc)
      : watched_(std::move(watched)), mark_(std::move(mark)), is_rpc_(is_rpc), events_(kMostAnswer) {}

  void on_head(const HttpResponseHead& head) override {
    const std::string_view type = find_header(head.headers, "Content-Type").value_or("");
    is_stream_ = head.status == 200 && type.starts_with("text/event-stream");
  }
  void on_body(std::string_view bytes) override {
    if (!is_stream_) return;
    const auto fed = events_.feed(bytes, [this](const SseEvent& event) { take(event.data); });
    if (!fed) end();
  }
  void on_done(Status /*status*/) override { end(); }

 private:
  void end(bool has_changed = false) {
    is_stream_ = false;
    const std::lock_guard lock(watched_->mutex);
    watched_->has_changed = watched_->has_changed || has_changed;
    watched_->is_over = true;
    watched_->changed.notify_all();
  }

  void take(std::string_view text) {
    const auto event = parse_json(text, kJson);
    if (!event) return end();
    const Json& body = is_rpc_ ? json_at(*event, "result") : *event;
    if (!json_at(body, "message").is_null()) return end();
    const Json& update = json_at(body, "statusUpdate");
    const Json& whole = json_at(body, "task");
    if (update.is_null() && whole.is_null()) return;  // an artifact
    const Json& status = json_at(update.is_null() ? whole : update, "status");
    const auto task = read_task(JsonObject{{"id", "x"}, {"status", status}}, kMostShown);
    if (!task) return end();
    if (phase_of(task->state) != Phase::kWorking && task->mark != mark_) return end(true);
    if (task->said.empty()) return;
    const std::lock_guard lock(watched_->mutex);
    watched_->said = task->said;
    watched_->changed.notify_all();
  }

  const std::shared_ptr<Watched> watched_;
  const std::string mark_;
  const bool is_rpc_;
  SseParser events_;
  bool is_stream_ = false;
};

}  // namespace

// ---- requests

HttpRequest Client::base_request(const Patience& patience) const {
  HttpRequest http;
  http.headers = agent_.headers;
  http.headers.emplace_back("A2A-Version", "1.0");
  add_trace(http.headers, patience.trace);
  http.timeouts.total = left_of(patience);
  http.max_body_bytes = kMostAnswer;
  http.allow_address = agent_.allow_address;
  http.use_proxy = agent_.use_proxy;
  return http;
}

Result<Interface> Client::connect(const Patience& patience) {
  const std::lock_guard lock(mutex_);
  if (interface_) return *interface_;
  auto found = fetch_card(patience);
  if (!found) return fail(with_reach(std::move(found.error()), Reach::kNotSent));
  interface_ = *std::move(found);
  return *interface_;
}

Result<Interface> Client::fetch_card(const Patience& patience) const {
  const auto home = parse_url(agent_.url);
  if (!home) return fail(home.error());
  std::string address = agent_.url;
  if (!address.ends_with(".json")) {
    while (address.ends_with('/')) address.pop_back();
    address += kCardPath;
  }
  HttpRequest http = base_request(patience);
  http.url = std::move(address);
  http.headers.emplace_back("Accept", "application/json");
  http.max_body_bytes = kMostCard;
  const auto response = http_fetch(*agent_.http, std::move(http), patience.stop);
  if (!response) return fail(as_tool_error(response.error()));
  auto card = result_of(*response, false);
  if (!card) return fail(std::move(card.error()));
  return interface_of(*card, *home);
}

Client::Operation Client::about_task(std::string_view method, std::string_view http_method,
                                     std::string_view ending, const std::string& id) {
  return {method, http_method, "/tasks/" + path_segment(id) + std::string(ending), {{"id", id}}};
}

HttpRequest Client::request_of(const Interface& interface, Operation operation, const Patience& patience) {
  HttpRequest http = base_request(patience);
  http.headers.emplace_back("Accept", "application/json, application/a2a+json, text/event-stream");
  if (interface.is_rpc) {
    if (!interface.tenant.empty()) operation.params["tenant"] = interface.tenant;
    http.method = "POST";
    http.url = interface.url;
    http.headers.emplace_back("Content-Type", "application/json");
    http.body = std::make_shared<const std::string>(to_json_text(JsonObject{
        {"jsonrpc", "2.0"}, {"id", ++last_id_}, {"method", operation.method}, {"params", operation.params}}));
    return http;
  }
  http.method = operation.http_method;
  http.url =
      interface.url + (interface.tenant.empty() ? "" : "/" + path_segment(interface.tenant)) + operation.path;
  if (http.method == "GET") return http;
  http.headers.emplace_back("Content-Type", "application/a2a+json");
  http.body = std::make_shared<const std::string>(to_json_text(operation.params));
  return http;
}

Result<Json> Client::result_of(const HttpResponse& response, bool is_rpc) const {
  const bool is_good = response.status >= 200 && response.status < 300;
  const auto body = parse_json(response.body, kJson);
  if (body && json_at(*body, "error").is_object()) return fail(reported(json_at(*body, "error")));
  if (is_good && body && body->is_object()) {
    if (!is_rpc) return *body;
    if (json_at(*body, "result").is_object()) return json_at(*body, "result");
  }
  // What came from a program in between, or cannot be read, does not say what the agent has done.
  const bool is_refused = response.status >= 300 && response.status < 500;
  std::string text = "the agent answered with HTTP " + std::to_string(response.status);
  if (response.status >= 300 && response.status < 400) {
    text += ", a redirect to " + shown(find_header(response.headers, "Location").value_or(""), 200) +
            ", which is not followed; if that is the right address, write it as the url";
  } else if (response.status == 401 || response.status == 403) {
    text +=
        ": it needs a token or a header, or another one; `token_env` and `headers_env` name the variables";
  } else {
    text += is_good ? " and nothing that the protocol allows" : ": " + shown(response.body, 200);
  }
  Error error = broken(std::move(text), is_refused ? Reach::kAnswered : Reach::kSent);
  error.retriable = response.status == 429 || response.status >= 500;
  return fail(std::move(error));
}

Result<Json> Client::ask(const Operation& operation, const Patience& patience) {
  const auto interface = connect(patience);
  if (!interface) return fail(interface.error());
  const auto response = http_fetch(*agent_.http, request_of(*interface, operation, patience), patience.stop);
  if (!response) {
    Error error = as_tool_error(response.error());
    // An answer that cannot be used does not say what the agent has done.
    if (reach_of(error) != Reach::kNotSent) error = with_reach(std::move(error), Reach::kSent);
    return fail(std::move(error));
  }
  return result_of(*response, interface->is_rpc);
}

// ---- operations

Result<Answer> Client::send(const Outgoing& message, const Patience& patience) {
  JsonObject body{{"messageId", message.id},
                  {"role", "ROLE_USER"},
                  {"parts", JsonArray{JsonObject{{"text", message.text}}}}};
  if (!message.task.empty()) body["taskId"] = message.task;
  if (!message.context.empty()) body["contextId"] = message.context;
  const auto result =
      ask({"SendMessage",
           "POST",
           "/message:send",
           {{"message", std::move(body)},
            {"configuration", JsonObject{{"returnImmediately", true}, {"historyLength", 0}}}}},
          patience);
  if (!result) return fail(result.error());
  if (const Json& said = json_at(*result, "message"); said.is_object())
    return Answer{std::nullopt, text_of_parts(json_at(said, "parts"), agent_.result_bytes)};
  auto task = read_task(json_at(*result, "task"), agent_.result_bytes);
  if (!task) return fail(with_reach(std::move(task.error()), Reach::kSent));
  if (!message.task.empty() && task->id != message.task)
    return fail(broken("the agent answered with another task than the one of the message", Reach::kSent));
  return Answer{*std::move(task), {}};
}

Result<Task> Client::task(const std::string& id, const Patience& patience) {
  const auto result = ask(about_task("GetTask", "GET", "", id), patience);
  if (!result) return fail(result.error());
  auto task = read_task(*result, agent_.result_bytes);
  if (task && task->id != id) return fail(broken("the agent answered with another task", Reach::kAnswered));
  return task;
}

Result<bool> Client::streams(const Patience& patience) {
  const auto interface = connect(patience);
  if (!interface) return fail(interface.error());
  return interface->streams;
}

bool Client::await_change(const std::string& id, const std::string& mark, const Patience& patience,
                          const std::function<void(const std::string& said)>& on_said) {
  const auto interface = connect(patience);
  if (!interface) return false;
  HttpRequest http = request_of(*interface, about_task("SubscribeToTask", "GET", ":subscribe", id), patience);
  http.max_body_bytes = kMostStream;
  http.timeouts.idle = kStreamIdle;
  const auto watched = std::make_shared<Watched>();
  std::stop_source enough;
  const std::stop_callback stops(patience.stop, [&] { enough.request_stop(); });
  agent_.http->send(std::move(http), std::make_shared<ChangeStream>(watched, mark, interface->is_rpc),
                    enough.get_token());
  std::unique_lock lock(watched->mutex);
  const auto stirred = [&] { return watched->is_over || watched->said; };
  while (watched->changed.wait_until(lock, patience.stop, patience.deadline, stirred) && !watched->is_over) {
    const std::string said = *std::exchange(watched->said, std::nullopt);
    lock.unlock();
    on_said(said);
    lock.lock();
  }
  const bool has_changed = watched->has_changed;
  lock.unlock();
  enough.request_stop();
  return has_changed;
}

void Client::cancel(const std::string& id) {
  std::optional<Interface> interface;
  {
    const std::lock_guard lock(mutex_);
    interface = interface_;
  }
  if (!interface) return;
  const Patience patience{{}, Clock::now() + kCancelTime};
  std::ignore = http_fetch(
      *agent_.http, request_of(*interface, about_task("CancelTask", "POST", ":cancel", id), patience), {});
}

}  // namespace praxis::a2a
