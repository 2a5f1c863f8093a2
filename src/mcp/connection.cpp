#include "mcp/connection.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/visible_text.hpp"
#include "json/uri_reference.hpp"
#include "praxis/base/reach.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMostMethodBytes = 100;

JsonObject list_of_roots(const std::vector<std::string>& folders) {
  JsonArray roots;
  for (const std::string& folder : folders)
    roots.push_back(JsonObject{{"uri", "file://" + percent_encode(folder, "/")}});
  return {{"roots", std::move(roots)}};
}

/// Whether the server may ask this in the middle of a request.
bool may_ask(const std::string& method, const McpBounds& bounds) {
  return bounds.answers_questions &&
         (method == kMcpQuestion || (method == kMcpSampling && bounds.gives_samples));
}

}  // namespace

void McpWaiting::settle(Result<Json> result) {
  const std::lock_guard lock(mutex_);
  if (!result_) result_ = std::move(result);
  changed_.notify_all();
}

void McpWaiting::progress(Json params) {
  const std::lock_guard lock(mutex_);
  progress_ = std::move(params);
  changed_.notify_all();
}

bool McpWaiting::ask(McpAsked asked) {
  const std::lock_guard lock(mutex_);
  if (!takes_questions_ || asked_ || result_) return false;
  asked_ = std::move(asked);
  changed_.notify_all();
  return true;
}

std::optional<McpAsked> McpWaiting::asked() {
  const std::lock_guard lock(mutex_);
  return std::exchange(asked_, std::nullopt);
}

std::optional<Result<Json>> McpWaiting::wait(const McpRequest& request) {
  const bool is_limited = request.deadline != std::chrono::steady_clock::time_point();
  std::unique_lock lock(mutex_);
  const auto stirred = [this] { return result_ || progress_ || asked_; };
  for (;;) {
    const bool woken = is_limited ? changed_.wait_until(lock, request.stop, request.deadline, stirred)
                                  : changed_.wait(lock, request.stop, stirred);
    if (progress_) {
      const Json params = std::move(*progress_);
      progress_.reset();
      lock.unlock();
      if (request.on_progress) request.on_progress(params);
      lock.lock();
    }
    if (result_) return std::move(result_);
    if (!woken || asked_) return std::nullopt;
  }
}

std::optional<std::string> mcp_reply_at_once(const McpMessage& request, const McpBounds& bounds,
                                             McpWaiting* open) {
  if (may_ask(request.method, bounds)) {
    const bool is_small = to_json_text(request.body).size() <= bounds.state_bytes;
    McpAsked asked{request.id, request.method, request.body};
    if (open != nullptr && is_small && open->ask(asked)) return std::nullopt;
    return mcp_reply(asked, nullptr);
  }
  if (request.method == "ping") return mcp_result(request.id, JsonObject{});
  if (request.method == "roots/list" && !bounds.roots.empty())
    return mcp_result(request.id, list_of_roots(bounds.roots));
  return mcp_error(request.id, kRpcUnknownMethod,
                   "this client offers no " + mcp_shown(request.method, kMostMethodBytes));
}

std::string mcp_reply(const McpAsked& asked, Json answer) {
  if (!answer.is_null()) return mcp_result(asked.id, std::move(answer));
  if (asked.method == kMcpQuestion) return mcp_result(asked.id, JsonObject{{"action", "cancel"}});
  return mcp_error(asked.id, kRpcDeclined, "the client does not give this");
}

Status check_not_declined(const JsonObject& answers) {
  const bool declines = std::ranges::any_of(answers, [](const auto& each) { return each.value().is_null(); });
  if (!declines) return {};
  return fail(with_reach(make_error(ErrorCode::kTool, ErrorKind::kFailed,
                                    "the server asks for a model's answer, which it does not get"),
                         Reach::kAnswered));
}

Error mcp_unanswered(const McpRequest& request) {
  if (request.stop.stop_requested()) {
    return with_reach(make_error(ErrorCode::kCancelled, "the request " + request.method + " was cancelled"),
                      Reach::kSent);
  }
  return with_reach(make_error(ErrorCode::kTool, ErrorKind::kTimeout,
                               "the server did not answer " + request.method + " in time"),
                    Reach::kSent);
}

Error mcp_reported(const Json& error, const McpBounds& bounds) {
  std::string text = mcp_shown(json_text(error, "message"), bounds.error_bytes);
  const auto code = json_int(error, "code");
  Error reported = make_error(ErrorCode::kTool, ErrorKind::kFailed,
                              "the server reports error " + std::to_string(code) + ": " + text);
  reported.set("rpc_code", code);
  if (const Json& data = json_at(error, "data");
      !data.is_null() && to_json_text(data).size() <= bounds.error_bytes)
    reported.set_value("rpc_data", data);
  return with_reach(std::move(reported), Reach::kAnswered);
}

std::string mcp_shown(std::string_view text, std::size_t bytes) {
  const bool is_long = text.size() > bytes;
  std::string shown = visible_text(text.substr(0, bytes));
  if (is_long) shown += " [" + std::to_string(text.size() - bytes) + " bytes left out]";
  return shown;
}

}  // namespace praxis
