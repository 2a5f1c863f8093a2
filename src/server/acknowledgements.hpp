// Tells requests that begin a turn when its message is durable, so that no client learns the id of a run, or
// that its message was taken, before a crash can no longer lose it. No thread waits meanwhile.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "praxis/base/executor.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::server {

/// Thread-safe. Owned by a `shared_ptr`; drop it before the runtime.
class Acknowledgements : public std::enable_shared_from_this<Acknowledgements> {
 public:
  /// Called once, on a worker. Errors: that of the turn which could not begin; kind `kOverloaded`: the
  /// journal failed, or has not answered in time, and the turn may still begin.
  using Then = std::move_only_function<void(Status)>;

  /// `patience` is how long a request waits for the journal.
  Acknowledgements(std::shared_ptr<Runtime> runtime, std::shared_ptr<Executor> executor,
                   std::chrono::milliseconds patience);
  ~Acknowledgements();
  Acknowledgements(const Acknowledgements&) = delete;
  Acknowledgements& operator=(const Acknowledgements&) = delete;

  /// Begins to watch. Call once.
  void start();
  /// Names one expected message; 0 names none.
  using Ticket = std::uint64_t;
  /// Calls `then` once the next message of a user in this session is durable. Call it before the turn is
  /// started. 0, without taking `then`: a message is expected already.
  Ticket expect(const SessionId& session, Then& then);
  /// Calls `then` with the message that the session expects. False, without taking `then`: it expects none.
  bool join(const SessionId& session, Then& then);
  /// The turn of the expected message could not begin or go on. No-op once the message was durable.
  void fail_with(const SessionId& session, Ticket ticket, const Error& error);

 private:
  struct Waiting {
    std::uint64_t number = 0;
    Then then;
    Executor::TimerId timer = 0;
  };
  struct Expected {
    Ticket ticket = 0;
    std::vector<Waiting> waiting;  ///< those whose patience has not ended
  };

  /// The caller holds the lock.
  void add(Expected& expected, const SessionId& session, Then then);
  void give_up(const SessionId& session, std::uint64_t number);
  void post(Then then, const Status& outcome);
  /// Answers those who wait for this message; with 0, for any of the session.
  void answer(const SessionId& session, Ticket ticket, const Status& outcome);

  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<Executor> executor_;
  const std::chrono::milliseconds patience_;
  std::optional<Subscription> subscription_;
  std::mutex mutex_;  // guards the next members
  std::map<SessionId, Expected> expected_;
  std::uint64_t last_ = 0;  ///< ticket or number
};

}  // namespace praxis::server
