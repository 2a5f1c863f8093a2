#include "protocols/mcp_serving.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

#include "mcp/message.hpp"
#include "protocols/json_lines.hpp"

namespace praxis::protocols {
namespace {

constexpr int kBusy = -32000;

/// One client.
class McpPeer {
 public:
  McpPeer(const McpServing& serving, int out) : serving_(serving), writer_(out) {}

  void take(std::string_view line);
  /// Stops the calls that are running and waits for them.
  void finish();

 private:
  struct Call {
    std::stop_source stop;
    std::thread thread;
    bool ended = false;
  };

  void answer(const McpMessage& request);
  void begin_call(const McpMessage& request, McpCallRequest wanted);
  void run_call(const std::string& key, const Json& id, const Json& token, ServedCall call, bool stateless);
  void run_task(const std::string& key, const Json& id, const ServedCall& call);
  void reap();
  void write_line(std::string line) { writer_.write(std::move(line)); }

  const McpServing& serving_;
  LineWriter writer_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Call>> calls_;  ///< by the text of the request's id
};

void McpPeer::take(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  const auto message = read_mcp_message(line, {.max_depth = 64, .max_bytes = serving_.max_line_bytes});
  if (!message) return write_line(mcp_error(nullptr, kRpcParseError, message.error().message));
  if (message->kind == McpMessage::Kind::kRequest) return answer(*message);
  if (message->method != "notifications/cancelled") return;
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(to_json_text(json_at(message->body, "requestId")));
  if (found != calls_.end()) found->second->stop.request_stop();
}

void McpPeer::answer(const McpMessage& request) {
  auto answer = answer_mcp(serving_.offer, request);
  if (auto* call = std::get_if<McpCallRequest>(&answer)) return begin_call(request, std::move(*call));
  write_line(mcp_answer_text(request.id, std::get<McpAnswer>(answer)));
}

void McpPeer::begin_call(const McpMessage& request, McpCallRequest wanted) {
  reap();
  ServedCall call{std::move(wanted.tool), std::move(wanted.arguments), {}, nullptr, wanted.caller};
  const auto refuse = [&](int code, const std::string& why) { write_line(mcp_error(request.id, code, why)); };
  const std::string key = to_json_text(request.id);
  const std::lock_guard lock(mutex_);
  if (calls_.contains(key)) return refuse(kRpcInvalidRequest, "a request with this id is running");
  if (calls_.size() >= serving_.max_calls) return refuse(kBusy, "too many calls at the same time");
  const auto started = std::make_shared<Call>();
  call.stop = started->stop.get_token();
  calls_[key] = started;
  started->thread = std::thread([this, key, id = request.id, token = std::move(wanted.progress_token),
                                 call = std::move(call), stateless = !mcp_version_of(request).empty(),
                                 as_task = wanted.as_task]() mutable {
    as_task ? run_task(key, id, call) : run_call(key, id, token, std::move(call), stateless);
  });
}

void McpPeer::run_call(const std::string& key, const Json& id, const Json& token, ServedCall call,
                       bool stateless) {
  std::int64_t steps = 0;
  const std::stop_token stop = call.stop;
  if (!token.is_null()) {
    call.progress = [&](const std::string& text) { write_line(mcp_progress(token, ++steps, text)); };
  }
  const ServedAnswer given = serving_.call(call);
  // A cancelled request gets no answer.
  if (!stop.stop_requested())
    write_line(mcp_answer_text(id, mcp_call_answer(serving_.offer, given, stateless)));
  const std::lock_guard lock(mutex_);
  calls_[key]->ended = true;
}

void McpPeer::run_task(const std::string& key, const Json& id, const ServedCall& call) {
  const auto begun = serving_.begin(call);
  write_line(begun ? mcp_answer_text(id, mcp_task_answer(serving_.offer, *begun))
                   : mcp_error(id, kRpcInternal, begun.error().message));
  const std::lock_guard lock(mutex_);
  calls_[key]->ended = true;
}

/// Joins the threads of calls that have ended.
void McpPeer::reap() {
  std::vector<std::shared_ptr<Call>> ended;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(calls_, [&](const auto& entry) {
      if (entry.second->ended) ended.push_back(entry.second);
      return entry.second->ended;
    });
  }
  for (const auto& call : ended) call->thread.join();
}

void McpPeer::finish() {
  std::vector<std::shared_ptr<Call>> running;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, call] : calls_) running.push_back(call);
  }
  for (const auto& call : running) call->stop.request_stop();
  for (const auto& call : running) call->thread.join();
}

}  // namespace

Status serve_mcp(const McpServing& serving, int in, int out, const std::stop_token& stop) {
  McpPeer peer(serving, out);
  Status served =
      read_lines(in, serving.max_line_bytes, stop, [&](std::string_view line) { peer.take(line); });
  peer.finish();
  return served;
}

}  // namespace praxis::protocols
