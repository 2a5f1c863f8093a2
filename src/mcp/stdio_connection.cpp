// The transport over standard input and output: one message a line, in both directions, with one thread that
// reads.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

#include "mcp/connection.hpp"
#include "praxis/base/reach.hpp"

namespace praxis {
namespace {

using Clock = std::chrono::steady_clock;

/// Lines that are no messages, and answers to no request, before the connection counts as broken. Some
/// programs write a greeting to standard output.
constexpr std::size_t kMaxStray = 1000;
constexpr std::chrono::milliseconds kCloseTime{300};  ///< for a program to end once its input has ended
/// For a message that no answer is expected to; a cancelled call must return within the grace time of a stop.
constexpr std::chrono::milliseconds kNotifyTime{50};
constexpr std::chrono::milliseconds kSlice{20};  ///< between two looks at a stop request while a write waits
constexpr std::size_t kBeginning = 200;          ///< of a line, where a message names its protocol
constexpr std::size_t kMaxRead = std::size_t{64} * 1024;

class StdioConnection final : public McpConnection {
 public:
  StdioConnection(Process process, const McpBounds& bounds, McpNotified notified)
      : bounds_(bounds),
        notified_(std::move(notified)),
        process_(std::move(process)),
        fd_(process_.channel()) {
    fcntl(fd_, F_SETFL, O_NONBLOCK);
    reader_ = std::thread([this] { read_all(); });
  }
  ~StdioConnection() override {
    shutdown(fd_, SHUT_WR);
    {
      std::unique_lock lock(mutex_);
      ended_.wait_for(lock, kCloseTime, [this] { return closed_; });
    }
    shutdown(fd_, SHUT_RDWR);
    reader_.join();
  }

  Result<Json> request(const McpRequest& request) override;
  Result<Json> go_on(const McpOpenRequest& open, Json answer, const McpRequest& request) override;
  void abandon(const McpOpenRequest& open) override {
    forget(open.id);
    notify("notifications/cancelled", JsonObject{{"requestId", open.id}, {"reason", "not answered"}});
  }
  void notify(std::string_view method, Json params) override {
    std::ignore = send(mcp_notification(method, std::move(params)), {}, Clock::now() + kNotifyTime);
  }
  void request_quietly(std::string_view method, Json params) override {
    std::int64_t id = 0;
    {
      const std::lock_guard lock(mutex_);
      id = ++last_id_;
      quiet_ = id;
    }
    std::ignore = send(mcp_request(id, method, std::move(params)), {}, Clock::now() + kNotifyTime);
  }
  bool is_open() const override {
    const std::lock_guard lock(mutex_);
    return !closed_;
  }
  void use_version(const std::string& /*version*/, bool /*modern*/) override {}

 private:
  void read_all();
  /// False when the connection has to end; `why` says why.
  bool take_lines(std::string& buffer, std::size_t& searched, std::string& why);
  bool take(std::string_view line, std::string& why);
  void answer(const McpMessage& message);
  void answer_request(const McpMessage& message);
  Result<Json> await(std::int64_t id, const std::shared_ptr<McpWaiting>& waiting, const McpRequest& request);
  void close_with(const std::string& why);
  std::string report_of_end(const std::string& why);
  bool take_turn(const std::stop_token& stop, Clock::time_point deadline);
  Status send(std::string line, const std::stop_token& stop, Clock::time_point deadline);
  Status write_line(const std::string& line, const std::stop_token& stop, Clock::time_point deadline);
  void forget(std::int64_t id) {
    const std::lock_guard lock(mutex_);
    waiting_.erase(id);
  }

  const McpBounds bounds_;
  const McpNotified notified_;
  Process process_;
  const int fd_;

  mutable std::mutex mutex_;
  std::condition_variable_any turn_;  ///< to write
  bool writing_ = false;
  std::condition_variable ended_;
  std::map<std::int64_t, std::shared_ptr<McpWaiting>> waiting_;
  std::int64_t last_id_ = 0;
  std::int64_t quiet_ = 0;  ///< a request whose answer is ignored
  bool closed_ = false;
  std::string why_;  ///< why it was closed

  std::size_t stray_ = 0;  ///< used by the reader only
  std::thread reader_;
};

Error closed_error(const std::string& why, Reach reach) {
  return with_reach(make_error(ErrorCode::kTool, ErrorKind::kClosed, why), reach);
}

Result<Json> StdioConnection::request(const McpRequest& request) {
  const auto waiting = std::make_shared<McpWaiting>(request.open != nullptr);
  std::int64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return fail(closed_error(why_, Reach::kNotSent));
    id = ++last_id_;
    waiting_[id] = waiting;
  }
  JsonObject params = request.params;
  if (request.on_progress) {
    Json& meta = params["_meta"];
    if (!meta.is_object()) meta = JsonObject{};
    meta.get_object()["progressToken"] = id;
  }
  if (auto sent = send(mcp_request(id, request.method, std::move(params)), request.stop, request.deadline);
      !sent) {
    forget(id);
    return fail(std::move(sent.error()));
  }
  return await(id, waiting, request);
}

Result<Json> StdioConnection::go_on(const McpOpenRequest& open, Json answer, const McpRequest& request) {
  if (auto sent = send(mcp_result(open.asked.id, std::move(answer)), request.stop, request.deadline); !sent) {
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

Error stuck_error(const std::stop_token& stop, Reach reach) {
  const ErrorCode code = stop.stop_requested() ? ErrorCode::kCancelled : ErrorCode::kTool;
  return with_reach(make_error(code, "the server does not read its standard input"), reach);
}

/// Messages are written one after the other. A mutex would make a request that is stopped wait for one that
/// is stuck.
bool StdioConnection::take_turn(const std::stop_token& stop, Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const auto is_free = [this] { return !writing_; };
  const bool taken = deadline == Clock::time_point() ? turn_.wait(lock, stop, is_free)
                                                     : turn_.wait_until(lock, stop, deadline, is_free);
  if (taken) writing_ = true;
  return taken;
}

Status StdioConnection::send(std::string line, const std::stop_token& stop, Clock::time_point deadline) {
  line += '\n';
  if (!take_turn(stop, deadline)) return fail(stuck_error(stop, Reach::kNotSent));
  Status written = write_line(line, stop, deadline);
  {
    const std::lock_guard lock(mutex_);
    writing_ = false;
  }
  turn_.notify_one();
  return written;
}

/// A line of which only a part was written would garble the next one, so the connection ends then.
Status StdioConnection::write_line(const std::string& line, const std::stop_token& stop,
                                   Clock::time_point deadline) {
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t got = ::send(fd_, line.data() + written, line.size() - written, MSG_NOSIGNAL);
    if (got >= 0) {
      written += static_cast<std::size_t>(got);
      continue;
    }
    if (errno == EINTR) continue;
    const Reach reach = written == 0 ? Reach::kNotSent : Reach::kSent;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
      return fail(closed_error("the server has ended or closed its standard input", reach));
    if (stop.stop_requested() || (deadline != Clock::time_point() && Clock::now() >= deadline)) {
      if (written != 0) shutdown(fd_, SHUT_RDWR);
      return fail(stuck_error(stop, reach));
    }
    pollfd ready{fd_, POLLOUT, 0};
    poll(&ready, 1, static_cast<int>(kSlice.count()));
  }
  return {};
}

void StdioConnection::read_all() {
  std::string buffer, why;
  std::size_t searched = 0;
  std::array<char, kMaxRead> chunk{};
  for (;;) {
    const ssize_t got = recv(fd_, chunk.data(), chunk.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd ready{fd_, POLLIN, 0};
      poll(&ready, 1, -1);
      continue;
    }
    if (got <= 0) {
      why = buffer.empty() ? "the server has ended" : "the server has ended within a message";
      break;
    }
    buffer.append(chunk.data(), static_cast<std::size_t>(got));
    if (!take_lines(buffer, searched, why)) break;
  }
  close_with(why);
}

bool StdioConnection::take_lines(std::string& buffer, std::size_t& searched, std::string& why) {
  std::size_t start = 0;
  for (std::size_t end = 0; (end = buffer.find('\n', std::max(searched, start))) != std::string::npos;
       start = end + 1) {
    const std::string_view line = std::string_view(buffer).substr(start, end - start);
    if (line.size() > bounds_.message_bytes) break;
    if (!take(line, why)) return false;
  }
  buffer.erase(0, start);
  searched = buffer.size();
  if (buffer.size() <= bounds_.message_bytes) return true;
  why = "the server sent a message of more than " + std::to_string(bounds_.message_bytes) + " bytes";
  return false;
}

bool StdioConnection::take(std::string_view line, std::string& why) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return true;
  const auto message =
      read_mcp_message(line, {.max_depth = bounds_.message_depth, .max_bytes = bounds_.message_bytes});
  if (message) {
    answer(*message);
  } else if (line.substr(0, kBeginning).contains("\"jsonrpc\"")) {
    // An answer that cannot be read: without this, its request would wait for it in vain.
    why = "the server sent a message that cannot be read: " + message.error().message;
    return false;
  } else {
    ++stray_;
  }
  if (stray_ <= kMaxStray) return true;
  why = "the server writes to standard output what is no message of the protocol";
  return false;
}

void StdioConnection::answer(const McpMessage& message) {
  using Kind = McpMessage::Kind;
  if (message.kind == Kind::kRequest) return answer_request(message);
  const bool is_progress = message.method == "notifications/progress";
  if (message.kind == Kind::kNotification && !is_progress) return notified_(message.method);
  const Json& id = is_progress ? json_at(message.body, "progressToken") : message.id;
  std::shared_ptr<McpWaiting> waiting;
  {
    const std::lock_guard lock(mutex_);
    const auto found = id.is_int64() ? waiting_.find(id.get_int64()) : waiting_.end();
    if (found != waiting_.end()) waiting = found->second;
    if (!waiting && !is_progress && !(id.is_int64() && id.get_int64() <= last_id_)) ++stray_;
  }
  if (!waiting) return;
  if (is_progress) return waiting->progress(message.body);
  if (message.kind == Kind::kResult) return waiting->settle(message.body);
  waiting->settle(fail(mcp_reported(message.body, bounds_)));
}

/// A question belongs to the call that is in progress. With several, the server
/// does not say which one asks, and the person could not know what they answer.
void StdioConnection::answer_request(const McpMessage& message) {
  std::string reply = mcp_error(message.id, kRpcUnknownMethod, "this client offers no " + message.method);
  if (message.method == "ping") reply = mcp_result(message.id, JsonObject{});
  if (message.method == "elicitation/create" && bounds_.answers_questions) {
    std::shared_ptr<McpWaiting> only;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.size() == 1) only = waiting_.begin()->second;
    }
    const bool is_small = to_json_text(message.body).size() <= bounds_.state_bytes;
    if (only && is_small && only->ask({message.id, message.body})) return;
    reply = mcp_result(message.id, JsonObject{{"action", "cancel"}});
  }
  std::ignore = send(std::move(reply), {}, Clock::now() + kNotifyTime);
}

/// What the program reported while it ended.
std::string StdioConnection::report_of_end(const std::string& why) {
  shutdown(fd_, SHUT_RDWR);
  const auto run = process_.wait({}, Clock::now() + kCloseTime);
  if (!run) return why;
  std::string text = why;
  if (run->end == ProcessEnd::kExited && run->exit_code != 0)
    text += " with status " + std::to_string(run->exit_code);
  if (run->end == ProcessEnd::kOutOfMemory) text += ", because it held more memory than allowed";
  const std::string report = run->err.text();
  const std::size_t cut = report.size() > bounds_.error_bytes ? report.size() - bounds_.error_bytes : 0;
  if (!report.empty())
    text += "; it reported: " + mcp_shown(std::string_view(report).substr(cut), bounds_.error_bytes);
  return text;
}

void StdioConnection::close_with(const std::string& why) {
  std::map<std::int64_t, std::shared_ptr<McpWaiting>> waiting;
  const std::string text = report_of_end(why);
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    why_ = text;
    waiting.swap(waiting_);
  }
  ended_.notify_all();
  for (const auto& [id, each] : waiting) each->settle(fail(closed_error(text, Reach::kSent)));
}

}  // namespace

Result<std::unique_ptr<McpConnection>> connect_to_program(const McpProgram& program, const McpBounds& bounds,
                                                          McpNotified notified) {
  ProcessSpec spec;
  spec.argv = program.argv;
  spec.environment = program.environment;
  if (program.prepare) {
    if (auto prepared = program.prepare(spec.environment); !prepared)
      return fail(std::move(prepared.error()));
  }
  spec.folder = program.folder;
  spec.channel_is_stdio = true;
  spec.limits = program.limits;
  spec.sandbox = program.sandbox;
  auto process = start_process(spec);
  if (!process) return fail(with_reach(std::move(process.error()), Reach::kNotSent));
  return std::make_unique<StdioConnection>(*std::move(process), bounds, std::move(notified));
}

}  // namespace praxis
