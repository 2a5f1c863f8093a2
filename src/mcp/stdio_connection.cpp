// The transport over standard input and output.
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "mcp/connection.hpp"
#include "mcp/program_channel.hpp"

namespace praxis {
namespace {

class StdioConnection final : public McpConnection {
 public:
  StdioConnection(Process process, const McpBounds& bounds, McpNotified notified)
      : bounds_(bounds),
        notified_(std::move(notified)),
        channel_(std::move(process),
                 {.message_bytes = bounds.message_bytes,
                  .message_depth = bounds.message_depth,
                  .error_bytes = bounds.error_bytes,
                  .peer = "the server"},
                 {.message = [this](const McpMessage& message) { return take(message); },
                  .ended = [this](const std::string& why) { close_with(why); }}) {
    channel_.begin();
  }

  Result<Json> request(const McpRequest& request) override;
  Result<Json> go_on(const McpOpenRequest& open, Json answer, const McpRequest& request) override;
  void abandon(const McpOpenRequest& open) override {
    forget(open.id);
    notify("notifications/cancelled", JsonObject{{"requestId", open.id}, {"reason", "not answered"}});
  }
  void notify(std::string_view method, Json params) override {
    std::ignore = channel_.send_quietly(mcp_notification(method, std::move(params)));
  }
  void request_quietly(std::string_view method, Json params) override {
    std::int64_t id = 0;
    {
      const std::lock_guard lock(mutex_);
      id = ++last_id_;
      quiet_ = id;
    }
    std::ignore = channel_.send_quietly(mcp_request(id, method, std::move(params)));
  }
  bool is_open() const override {
    const std::lock_guard lock(mutex_);
    return !closed_;
  }
  void use_version(const std::string& /*version*/, bool /*modern*/) override {}

 private:
  /// False: the message answers no request.
  bool take(const McpMessage& message);
  void answer_request(const McpMessage& message);
  Result<Json> await(std::int64_t id, const std::shared_ptr<McpWaiting>& waiting, const McpRequest& request);
  void close_with(const std::string& why);
  void forget(std::int64_t id) {
    const std::lock_guard lock(mutex_);
    waiting_.erase(id);
  }

  const McpBounds bounds_;
  const McpNotified notified_;

  mutable std::mutex mutex_;
  std::map<std::int64_t, std::shared_ptr<McpWaiting>> waiting_;
  std::int64_t last_id_ = 0;
  std::int64_t quiet_ = 0;  ///< a request whose answer is ignored
  bool closed_ = false;
  std::string why_;  ///< why it was closed

  ProgramChannel channel_;  ///< last: its end still reports to this object
};

Result<Json> StdioConnection::request(const McpRequest& request) {
  const auto waiting = std::make_shared<McpWaiting>(request.open != nullptr);
  std::int64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return fail(channel_closed(why_, Reach::kNotSent));
    id = ++last_id_;
    waiting_[id] = waiting;
  }
  JsonObject params = request.params;
  if (request.on_progress) {
    Json& meta = params["_meta"];
    if (!meta.is_object()) meta = JsonObject{};
    meta.get_object()["progressToken"] = id;
  }
  if (auto sent =
          channel_.send(mcp_request(id, request.method, std::move(params)), request.stop, request.deadline);
      !sent) {
    forget(id);
    return fail(std::move(sent.error()));
  }
  return await(id, waiting, request);
}

Result<Json> StdioConnection::go_on(const McpOpenRequest& open, Json answer, const McpRequest& request) {
  if (auto sent = channel_.send(mcp_reply(open.asked, std::move(answer)), request.stop, request.deadline);
      !sent) {
    forget(open.id);
    return fail(with_reach(std::move(sent.error()), Reach::kSent));
  }
  return await(open.id, open.waiting, request);
}

Result<Json> StdioConnection::await(std::int64_t id, const std::shared_ptr<McpWaiting>& waiting,
                                    const McpRequest& request) {
  auto answer = waiting->wait(request);
  if (auto asked = waiting->asked(); !answer && asked && request.open != nullptr) {
    *request.open = {id, *std::move(asked), waiting};
    return Json(nullptr);
  }
  forget(id);
  if (answer) return *std::move(answer);
  notify(
      "notifications/cancelled",
      JsonObject{{"requestId", id}, {"reason", request.stop.stop_requested() ? "stopped" : "out of time"}});
  return fail(mcp_unanswered(request));
}

bool StdioConnection::take(const McpMessage& message) {
  using Kind = McpMessage::Kind;
  if (message.kind == Kind::kRequest) {
    answer_request(message);
    return true;
  }
  const bool is_progress = message.method == "notifications/progress";
  if (message.kind == Kind::kNotification && !is_progress) {
    notified_(message.method);
    return true;
  }
  const Json& id = is_progress ? json_at(message.body, "progressToken") : message.id;
  std::shared_ptr<McpWaiting> waiting;
  bool was_asked = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = id.is_int64() ? waiting_.find(id.get_int64()) : waiting_.end();
    if (found != waiting_.end()) waiting = found->second;
    was_asked = is_progress || (id.is_int64() && id.get_int64() <= last_id_);
  }
  if (!waiting) return was_asked;
  if (is_progress) {
    waiting->progress(message.body);
  } else {
    waiting->settle(message.kind == Kind::kResult ? Result<Json>(message.body)
                                                  : fail(mcp_reported(message.body, bounds_)));
  }
  return true;
}

/// A question belongs to the call that is in progress. With several, the server
/// does not say which one asks, and the person could not know what they answer.
void StdioConnection::answer_request(const McpMessage& message) {
  std::shared_ptr<McpWaiting> only;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() == 1) only = waiting_.begin()->second;
  }
  if (auto reply = mcp_reply_at_once(message, bounds_, only.get()))
    std::ignore = channel_.send_quietly(*std::move(reply));
}

void StdioConnection::close_with(const std::string& why) {
  std::map<std::int64_t, std::shared_ptr<McpWaiting>> waiting;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    why_ = why;
    waiting.swap(waiting_);
  }
  for (const auto& [id, each] : waiting) each->settle(fail(channel_closed(why, Reach::kSent)));
}

}  // namespace

Result<std::unique_ptr<McpConnection>> connect_to_program(const McpProgram& program, const McpBounds& bounds,
                                                          McpNotified notified) {
  auto process = start_channel_program(program);
  if (!process) return fail(std::move(process.error()));
  return std::make_unique<StdioConnection>(*std::move(process), bounds, std::move(notified));
}

}  // namespace praxis
