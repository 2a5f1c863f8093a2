// The order in which the processes of one machine write to a journal. SQLite's write lock has no order, and a
// process can only try again and again: hundreds of them would keep the processor busy and starve each other.
// So a process that finds the lock taken waits for a lock of our own first, which the kernel gives in order,
// and keeps it until its transaction ends. It always takes our lock before SQLite's. Our lock is for order
// only: a process that has waited two seconds tries SQLite's without it, so one that is stopped with our lock
// delays the others and does not block them.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "praxis/base/result.hpp"
#include "store/byte_locks.hpp"
#include "store/lock_holder.hpp"

namespace praxis {

/// How to wait for other processes.
struct LockWaits {
  /// Called with a sentence that names the holder, once in a wait, after a second or two.
  std::function<void(const std::string&)> notice;
  std::stop_token stop;              ///< waits end a second after the request
  bool ends_stopped_holder = false;  ///< with SIGKILL, if it is of the same user and really stopped
};

/// The place of one connection. Used by the thread that uses the connection, apart from `close`.
class WriteQueue {
 public:
  /// Tries to take SQLite's lock: true if it did, false if another process has it, or an error.
  using Attempt = std::function<Result<bool>()>;

  WriteQueue(std::string journal, ByteLocks locks, LockWaits waits);
  ~WriteQueue();
  WriteQueue(const WriteQueue&) = delete;
  WriteQueue& operator=(const WriteQueue&) = delete;

  /// Calls `attempt` until it succeeds, in turn with other processes. The first attempt costs no system call
  /// of ours while no other process has written lately. Errors of `attempt`; `io`, with the holder's name,
  /// once `stop` was requested a second ago, or `close` called ten seconds ago.
  Status take(const Attempt& attempt);
  /// Lets the next process write; the transaction has ended.
  void give();
  /// Bounds the present and all later waits. Thread-safe.
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  struct Request;

  Status take_in_turn(const Attempt& attempt);
  void ask();
  void withdraw();
  void pause_for_turn(std::chrono::microseconds pause);
  bool has_turn() const { return ours_ || granted_.has_value(); }
  void watch_holder();
  bool is_over();
  Error gave_up() const;

  const std::string journal_;
  const ByteLocks locks_;
  const LockWaits waits_;
  int crowded_ = 0;  ///< transactions for which our lock is still taken first
  bool ours_ = false;
  std::optional<ByteLocks> granted_;  ///< our lock, if another thread has waited for it
  std::shared_ptr<Request> request_;  ///< that wait; null: none was begun
  std::optional<LockHolder> holder_;  ///< as seen last
  bool told_ = false;
  std::optional<Clock::time_point> stop_seen_;
  std::atomic<Clock::rep> closed_at_ = 0;
};

}  // namespace praxis
