#include "cli/server_events.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace praxis::cli {
namespace {

constexpr std::size_t kMostWaiting = 1024 * 1024;  // bytes that were received and not read
constexpr std::size_t kMostRefusal = 64 * 1024;
constexpr std::chrono::seconds kStreamSilence{60};  // the server gives a sign of life every 15 seconds

}  // namespace

/// Receives one answer. The client is that of this command alone, so a slow reader may keep it waiting, and
/// with it the server.
class ServerEvents::Connection final : public HttpSink {
 public:
  /// What was received since the last call.
  struct Received {
    std::string bytes;
    int status = 0;
    std::optional<Status> done;
  };

  void on_head(const HttpResponseHead& head) override {
    const std::lock_guard lock(mutex_);
    received_.status = head.status;
    changed_.notify_all();
  }
  void on_body(std::string_view bytes) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || received_.bytes.size() < kMostWaiting; });
    if (closed_) return;
    received_.bytes += bytes;
    changed_.notify_all();
  }
  void on_done(Status status) override {
    const std::lock_guard lock(mutex_);
    received_.done = std::move(status);
    changed_.notify_all();
  }

  /// Waits for bytes or the end until a time, or until `stop` is requested.
  Received read(Clock::time_point until, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, stop, until, [this] { return !received_.bytes.empty() || received_.done; });
    Received received{std::exchange(received_.bytes, {}), received_.status, received_.done};
    changed_.notify_all();
    return received;
  }
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      changed_.notify_all();
    }
    stop_.request_stop();
  }
  std::stop_token stop_token() const { return stop_.get_token(); }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Received received_;
  bool closed_ = false;
  std::stop_source stop_;
};

ServerEvents::ServerEvents(const ServerClient& client, const std::string& run, std::string after)
    : client_(client), path_("/api/v1/runs/" + path_segment(run) + "/events"), last_(std::move(after)) {}

ServerEvents::~ServerEvents() {
  if (connection_) connection_->close();
}

void ServerEvents::connect() {
  HttpRequest request = client_.request("GET", path_);
  if (!last_.empty()) request.headers.emplace_back("Last-Event-ID", last_);
  request.max_body_bytes = SIZE_MAX;  // a stream has no end, and nothing is kept
  request.timeouts.idle = kStreamSilence;
  connection_ = std::make_shared<Connection>();
  parser_ = std::make_unique<SseParser>();
  refusal_.clear();
  client_.http().send(std::move(request), connection_, connection_->stop_token());
}

Result<std::optional<Json>> ServerEvents::next(std::chrono::milliseconds time) {
  const auto until = Clock::now() + time;
  for (;;) {
    if (client_.stop().stop_requested()) return fail(ErrorCode::kCancelled, "interrupted");
    if (!sent_.empty()) {
      Sent sent = std::move(sent_.front());
      sent_.pop_front();
      if (!sent.id.empty()) last_ = std::move(sent.id);
      return std::optional<Json>(std::move(sent.event));
    }
    if (std::exchange(ends_, false)) {
      if (auto lost = lose(make_error(ErrorCode::kModel, ErrorKind::kNetwork, "the server ends")); !lost)
        return fail(lost.error());
    }
    if (Clock::now() >= until) return std::optional<Json>();
    if (auto got = read(until); !got) return fail(got.error());
  }
}

/// Reads once what comes until a time.
Status ServerEvents::read(Clock::time_point until) {
  if (!connection_) connect();
  auto received = connection_->read(until, client_.stop());
  if (received.status / 100 == 2) {
    if (!std::exchange(is_heard_, true)) reconnected_ = std::exchange(had_connection_, true);
    heard_ = Clock::now();
    if (auto taken = take(received.bytes); !taken) return taken;
    if (!received.done) return {};
    return lose(*received.done ? make_error(ErrorCode::kModel, ErrorKind::kNetwork, "the stream has ended")
                               : received.done->error());
  }
  refusal_ += received.bytes.substr(0, kMostRefusal - std::min(kMostRefusal, refusal_.size()));
  if (!received.done) return {};
  if (!*received.done) return lose(received.done->error());
  const Error refused = refusal(received.status, refusal_);
  return refused.kind() == ErrorKind::kOverloaded || refused.code == ErrorCode::kLimit ? lose(refused)
                                                                                       : fail(refused);
}

Status ServerEvents::take(std::string_view bytes) {
  return parser_->feed(bytes, [this](const SseEvent& sent) {
    if (sent.event == "shutdown" || sent.event == "reconnect") {
      ends_ = true;
      return;
    }
    auto event = parse_json(sent.data);
    if (event) sent_.push_back({std::string(sent.id), *std::move(event)});
  });
}

/// Gives the connection up; the next `read` makes another. Error: the server has not been there for too long,
/// or the request was wrong.
Status ServerEvents::lose(const Error& error) {
  connection_->close();
  connection_.reset();
  is_heard_ = false;
  if (error.code == ErrorCode::kInput) return fail(error);
  if (Clock::now() - heard_ > kServerPatience) return fail(exchange_error(error));
  std::ignore = wait_unless_stopped(kServerRetry, client_.stop());
  return {};
}

}  // namespace praxis::cli
