// Subscriptions to the events of a session or of a whole runtime, and the event queue behind a `Run`.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "praxis/core/event.hpp"

namespace praxis {

/// A thread-safe list of handlers. A handler may be called once more while its subscription is being dropped.
class Observers {
 public:
  /// Throws `std::invalid_argument` when no event can ever match `pattern`.
  [[nodiscard]] std::shared_ptr<void> add(std::string pattern, EventHandler handler);
  void publish(const Event& event) const;
  /// The kinds of events that must be created: a superset of what the subscriptions match.
  EventKinds wanted() const {
    return want_any() ? EventKinds(kinds_.load(std::memory_order_relaxed)) : EventKinds();
  }
  /// True when a subscription matches deltas, or any events.
  bool want_deltas() const { return counts_->deltas.load(std::memory_order_relaxed) > 0; }
  bool want_any() const { return counts_->all.load(std::memory_order_relaxed) > 0; }

 private:
  /// Shared with the subscriptions, which may outlive the list.
  struct Counts {
    std::atomic<int> all = 0;
    std::atomic<int> deltas = 0;
  };
  struct Subscription {
    Subscription(std::string pattern, EventHandler handler, std::shared_ptr<Counts> counts);
    ~Subscription();
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;

    const std::string pattern;
    const EventKinds kinds;  ///< that may match, without custom events
    const EventHandler handler;
    const std::shared_ptr<Counts> counts;
    const bool deltas;
  };
  struct Listed {
    std::weak_ptr<Subscription> subscription;
    bool deltas;  ///< a copy that lets `publish` skip the subscription without locking it
  };
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
  std::atomic<unsigned long long> kinds_ = 0;  ///< kinds that a subscription has ever matched; never shrinks
  static_assert(EventKinds().size() <= 64);
  mutable std::mutex mutex_;
  std::vector<Listed> list_;
};

/// Events and result of one turn, for one reader. Drops deltas when the reader falls behind, but no other
/// events.
class EventQueue {
 public:
  using Done = std::move_only_function<void(Result<AgentResult>)>;
  /// When `finish` is called.
  enum class Until : std::uint8_t {
    kRest,  ///< when the turn ends or waits for an approval
    kEnd,   ///< when the turn ends
  };

  /// With `collect` false, only the result is kept.
  explicit EventQueue(bool collect, Until until = Until::kRest) : collect_(collect), until_(until) {}
  /// Keeps nothing: calls `done` with the result.
  explicit EventQueue(Done done, Until until = Until::kRest)
      : collect_(false), until_(until), done_(std::move(done)) {}

  bool collects() const { return collect_; }
  bool stays() const { return until_ == Until::kEnd; }
  void push(const Event& event);
  /// Keeps `what` until the result is known.
  void keep(std::shared_ptr<void> what);
  void finish(Result<AgentResult> result);
  bool finished() const;
  /// Waits for the next event and returns it, or nothing at the end.
  std::optional<Event> pop();
  /// The same, but at most for `limit`.
  std::optional<Event> pop(std::chrono::milliseconds limit);
  /// Waits for the result, at most `limit`; whether it is there.
  bool wait(std::chrono::milliseconds limit);
  /// Waits for the result.
  Result<AgentResult> result();
  /// Calls `done` with the result once it is known, possibly before this returns. Not for a queue that keeps
  /// nothing.
  void on_result(std::function<void(Result<AgentResult>)> done);

 private:
  std::optional<Event> take();
  static constexpr std::size_t kMaxWaiting = 65'536;

  const bool collect_;
  const Until until_ = Until::kRest;
  Done done_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Event> events_;                            ///< takes no memory while it is empty
  std::unique_ptr<const Result<AgentResult>> result_;  ///< null: not known yet
  std::vector<std::function<void(Result<AgentResult>)>> on_result_;
  std::shared_ptr<void> kept_;
};

}  // namespace praxis
