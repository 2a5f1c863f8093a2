#include "server/pushed_task.hpp"

#include <utility>

#include "praxis/logs/logs.hpp"
#include "server/client_conversation.hpp"

namespace praxis::server {
namespace {

std::vector<std::string> lines_in(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace

PushedTask::PushedTask(Source source, std::shared_ptr<const PushQueue::Means> means, A2aTaskId task,
                       std::shared_ptr<PushQueue> queue)
    : source_(std::move(source)),
      means_(std::move(means)),
      task_(std::move(task)),
      queue_(std::move(queue)),
      codec_(task_, {.is_lines = true}),
      log_{source_.journal, task_.run, {}, {}},
      replay_(codec_, log_.state) {}

Status PushedTask::start(EventFeed& feed) {
  if (auto joined = feed.join({.session = task_.run, .deltas = false}, shared_from_this()); !joined)
    return joined;
  look_soon();
  return {};
}

void PushedTask::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  queue_->stop();
}

bool PushedTask::on_frame(const Frame& frame) {
  if (frame.position) look_soon();
  return on_idle();
}

bool PushedTask::on_idle() {
  const std::lock_guard lock(mutex_);
  return !is_over_;
}

void PushedTask::on_end() {
  const std::lock_guard lock(mutex_);
  is_over_ = true;
}

void PushedTask::look_soon() {
  {
    const std::lock_guard lock(mutex_);
    looks_again_ = true;
    if (is_over_ || std::exchange(is_looking_, true)) return;
  }
  source_.runs->post([self = shared_from_this()] { self->look(); });
}

/// Reads what the log has got. What comes meanwhile is read after a pause, so that a run with many changes
/// costs no more reads than it lasts.
void PushedTask::look() {
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) return;
    looks_again_ = false;
  }
  std::string out;
  const bool is_read = take_changes(out);
  give(out);
  {
    const std::lock_guard lock(mutex_);
    is_over_ = is_over_ || codec_.has_ended();
    is_looking_ = !is_over_ && (looks_again_ || !is_read);
    if (!is_looking_) return;
  }
  const PushRules& rules = means_->rules;
  means_->executor->after(is_read ? rules.between_looks : rules.first_pause, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self) self->source_.runs->post([self] { self->look(); });
  });
}

/// False: the log could not be read.
bool PushedTask::take_changes(std::string& out) {
  const auto records = read_records(*log_.journal, task_.run, log_.state.seq + 1);
  if (!records) return false;
  for (const StoredRecord& stored : *records) {
    const auto ended = replay_.take(stored, 0, out);
    if (!ended) return false;
    if (*ended) break;
  }
  if (!codec_.has_ended()) take_wait(out);
  if (!std::exchange(has_begun_, true)) out = codec_.speak();
  return true;
}

/// Says for what the task waits, if it has not said so.
void PushedTask::take_wait(std::string& out) {
  const auto pending = waiting_steps(log_);
  if (!pending) return;
  std::set<std::string> steps;
  for (const ParkedStep& step : *pending) steps.insert(client_step_id(task_.run, step));
  const bool is_new = !steps.empty() && steps != said_waits_;
  said_waits_ = std::move(steps);
  if (is_new && codec_.has_begun()) codec_.take_wait(*pending, out);
}

void PushedTask::give(const std::string& lines) {
  const auto whole = [this] { return to_json_text(JsonObject{{"task", codec_.task(std::nullopt)}}); };
  if (lines.empty() && !codec_.has_ended()) return;
  queue_->add(lines_in(lines), whole, codec_.has_ended());
}

}  // namespace praxis::server
