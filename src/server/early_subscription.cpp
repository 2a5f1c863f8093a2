#include "server/early_subscription.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace praxis::server {

/// Keeps frames until it has the sink that they are for, and then passes them on. Not bounded: a turn begins
/// to publish when its message is durable, which is what the reader waits for too.
class HeldFrames final : public FeedSink {
 public:
  void give_to(std::shared_ptr<FeedSink> sink) {
    const std::lock_guard lock(mutex_);
    sink_ = std::move(sink);
    const std::vector<Frame> frames = std::exchange(frames_, {});
    wants_more_ = std::ranges::all_of(frames, [this](const Frame& frame) { return sink_->on_frame(frame); });
    if (wants_more_ && has_ended_) sink_->on_end();
  }
  /// No reader will come.
  void give_up() {
    const std::lock_guard lock(mutex_);
    if (sink_) return;
    wants_more_ = false;
    frames_.clear();
  }

  bool on_frame(const Frame& frame) override {
    const std::lock_guard lock(mutex_);
    if (sink_ && wants_more_) return sink_->on_frame(frame);
    if (wants_more_) frames_.push_back(frame);
    return wants_more_;
  }
  bool on_idle() override {
    const std::lock_guard lock(mutex_);
    return wants_more_ && (!sink_ || sink_->on_idle());
  }
  void on_end() override {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    if (sink_ && wants_more_) sink_->on_end();
  }
  bool has_room() const override {
    const std::lock_guard lock(mutex_);
    return !sink_ || sink_->has_room();
  }

 private:
  mutable std::mutex mutex_;  // guards all members, and that frames reach the sink in their order
  std::shared_ptr<FeedSink> sink_;
  std::vector<Frame> frames_;
  bool wants_more_ = true;
  bool has_ended_ = false;
};

EarlySubscription::EarlySubscription(std::shared_ptr<EventFeed> feed)
    : feed_(std::move(feed)), held_(std::make_shared<HeldFrames>()) {}

EarlySubscription::~EarlySubscription() {
  if (held_) held_->give_up();
}

Status EarlySubscription::begin(FeedFilter filter) { return feed_->join(std::move(filter), held_); }

void EarlySubscription::give_to(std::shared_ptr<FeedSink> sink) {
  std::exchange(held_, nullptr)->give_to(std::move(sink));
}

}  // namespace praxis::server
