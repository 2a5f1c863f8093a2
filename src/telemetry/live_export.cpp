#include "telemetry/live_export.hpp"

#include <algorithm>
#include <utility>

#include "praxis/base/environment.hpp"

namespace praxis::telemetry {
namespace {

constexpr Millis kLongestPause{60'000};

}  // namespace

Result<std::unique_ptr<LiveExport>> LiveExport::start(std::shared_ptr<Journal> journal,
                                                      LiveExportOptions options) {
  auto queue = TraceQueue::open(std::move(journal), options.file, options.redactions);
  if (!queue) return fail(queue.error());
  return std::unique_ptr<LiveExport>(new LiveExport(*std::move(queue), std::move(options)));
}

LiveExport::LiveExport(TraceQueue queue, LiveExportOptions options)
    : options_(std::move(options)),
      queue_(std::move(queue)),
      collector_(options_.collector),
      pause_(options_.interval),
      thread_([this] { work(); }) {}

LiveExport::~LiveExport() {
  std::unique_lock lock(mutex_);
  closing_ = true;
  changed_.notify_all();
  changed_.wait_for(lock, options_.farewell, [this] { return done_; });
  stop_.request_stop();
  lock.unlock();
  thread_.join();
}

void LiveExport::work() {
  std::unique_lock lock(mutex_);
  // The last pass begins after the end was asked for: one that began before may lack the last turns.
  for (bool is_last = false; !is_last;) {
    changed_.wait_for(lock, pause_, [this] { return closing_; });
    is_last = closing_;
    const bool is_away = system_environment()->now() - queue_.away_since() < kLongestPause;
    if (is_last && is_away) break;
    lock.unlock();
    pass();
    lock.lock();
  }
  done_ = true;
  changed_.notify_all();
}

void LiveExport::pass() {
  const auto warn = [this](const std::string& text) {
    if (options_.warn && !warned_) options_.warn(text);
    warned_ = true;
  };
  const auto passed = queue_.send(collector_, stop_.get_token());
  if (!passed) {
    pause_ = kLongestPause;
    return warn("traces are not sent: " + passed.error().message);
  }
  const bool is_cancelled = passed->error && passed->error->code == ErrorCode::kCancelled;
  if (passed->error && !is_cancelled) {
    pause_ = std::min(pause_ * 2, kLongestPause);
    return warn("traces wait: " + passed->error->message);
  }
  pause_ = options_.interval;
  if (passed->refused > 0)
    return warn("the collector refused the traces of " + std::to_string(passed->refused) + " turns");
  if (passed->dropped > 0) return warn("traces were dropped, because too many waited for the collector");
  warned_ = false;
}

}  // namespace praxis::telemetry
