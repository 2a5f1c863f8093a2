// Who listens: subscriptions to a session or a whole runtime, and the queue behind a `Run`.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "praxis/core/event.hpp"

namespace praxis {

/// Thread-safe list of handlers. A handler may still be called once more while its subscription is being
/// dropped.
class Observers {
 public:
  [[nodiscard]] std::shared_ptr<void> add(std::string pattern, EventHandler handler);
  void publish(const Event& event) const;
  /// What is wanted, at least: what nobody wants is not even made.
  EventKinds wanted() const {
    return want_any() ? EventKinds(kinds_.load(std::memory_order_relaxed)) : EventKinds();
  }
  /// Whether anybody wants deltas, or anything at all.
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
    const EventHandler handler;
    const std::shared_ptr<Counts> counts;
    const bool deltas;
  };
  struct Listed {
    std::weak_ptr<Subscription> subscription;
    bool deltas;  ///< so that a delta need not touch those that want none
  };
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
  std::atomic<unsigned long long> kinds_ = 0;  ///< that were ever asked for
  static_assert(EventKinds().size() <= 64);
  mutable std::mutex mutex_;
  std::vector<Listed> list_;
};

/// Events and end of one turn, for one reader. Lossy for deltas when the reader falls behind, never for the
/// rest.
class EventQueue {
 public:
  using Done = std::move_only_function<void(Result<AgentResult>)>;
  /// What it is finished by.
  enum class Until : std::uint8_t {
    kRest,  ///< the end of the turn, or that it waits for a person
    kEnd,   ///< the end alone
  };

  /// With `collect` false only the result is kept.
  explicit EventQueue(bool collect, Until until = Until::kRest) : collect_(collect), until_(until) {}
  /// Nothing is kept: `done` is called with the result.
  explicit EventQueue(Done done) : collect_(false), done_(std::move(done)) {}

  bool collects() const { return collect_; }
  bool stays() const { return until_ == Until::kEnd; }
  void push(const Event& event);
  void finish(Result<AgentResult> result);
  bool finished() const;
  /// The next event; nothing at the end. Waits.
  std::optional<Event> pop();
  /// Waits for the end.
  Result<AgentResult> result();

 private:
  static constexpr std::size_t kMaxWaiting = 65'536;

  const bool collect_;
  const Until until_ = Until::kRest;
  Done done_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;
  std::optional<Result<AgentResult>> result_;
};

}  // namespace praxis
