#include "store/write_queue.hpp"

#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace praxis {
namespace {

using namespace std::chrono_literals;

constexpr int kStaysCrowded = 16;  // transactions
constexpr auto kImpatient = 2s, kTryEvery = 1s;
constexpr auto kFirstLook = 500ms, kNextLook = 500ms;
constexpr std::chrono::microseconds kFirstPause{50}, kLongestPause{2'000}, kSlice{100'000};
constexpr auto kAfterStop = 1s, kAfterClose = 10s;

}  // namespace

/// A wait for our lock by a thread of its own: a thread that waits in the kernel cannot be woken, and this
/// one may outlive the connection.
struct WriteQueue::Request {
  std::mutex mutex;
  std::condition_variable answered;
  bool wanted = true;
  bool ended = false;
  std::optional<ByteLocks> granted;

  void wait(const std::string& journal) {
    auto locks = ByteLocks::open(journal);
    const bool got = locks && locks->wait_and_lock(kTurnByte);
    const std::lock_guard lock(mutex);
    ended = true;
    if (got && wanted) granted = *std::move(locks);
    answered.notify_all();
  }
};

WriteQueue::WriteQueue(std::string journal, ByteLocks locks, LockWaits waits)
    : journal_(std::move(journal)), locks_(std::move(locks)), waits_(std::move(waits)) {}

WriteQueue::~WriteQueue() { withdraw(); }

void WriteQueue::close() { closed_at_ = Clock::now().time_since_epoch().count(); }

Status WriteQueue::take(const Attempt& attempt) {
  if (crowded_ == 0) {
    auto taken = attempt();
    if (!taken) return fail(std::move(taken.error()));
    if (*taken) return {};
    crowded_ = kStaysCrowded;
  }
  auto taken = take_in_turn(attempt);
  withdraw();
  if (!taken) give();
  return taken;
}

void WriteQueue::give() {
  if (std::exchange(ours_, false)) locks_.unlock(kTurnByte);
  granted_.reset();
}

Status WriteQueue::take_in_turn(const Attempt& attempt) {
  const auto start = Clock::now();
  Clock::time_point next_look = start + kFirstLook, next_try = start + kImpatient;
  bool waited = false;
  told_ = false;
  holder_.reset();
  ours_ = locks_.try_lock(kTurnByte);
  if (!ours_) ask();
  for (auto pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    const auto now = Clock::now();
    if (has_turn() || now >= next_try) {
      next_try = now + kTryEvery;
      auto taken = attempt();
      if (!taken) return fail(std::move(taken.error()));
      if (*taken) break;
    }
    if (now >= next_look) {
      watch_holder();
      next_look = now + kNextLook;
    }
    if (is_over()) return fail(gave_up());
    pause_for_turn(pause);
    waited = true;
  }
  crowded_ = waited ? kStaysCrowded : crowded_ - 1;
  return {};
}

/// Lets another thread wait for our lock.
void WriteQueue::ask() {
  if (request_) {
    const std::lock_guard lock(request_->mutex);
    request_->wanted = true;
    if (!request_->ended) return;
  }
  request_ = std::make_shared<Request>();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the threads of the program
  try {
    std::thread([request = request_, journal = journal_] { request->wait(journal); }).detach();
  } catch (const std::system_error&) {
    request_->ended = true;  // no thread to be had: only try again and again
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// Returns our lock as soon as it is given.
void WriteQueue::withdraw() {
  if (!request_) return;
  const std::lock_guard lock(request_->mutex);
  request_->wanted = false;
  request_->granted.reset();
}

/// Waits for our lock; with it, for a while before the next attempt at SQLite's, which a process may hold
/// that found it free before we asked.
void WriteQueue::pause_for_turn(std::chrono::microseconds pause) {
  if (has_turn()) return std::this_thread::sleep_for(pause);
  std::unique_lock lock(request_->mutex);
  if (request_->ended && !request_->granted) {
    lock.unlock();
    return std::this_thread::sleep_for(kSlice);
  }
  request_->answered.wait_for(lock, kSlice, [this] { return request_->ended; });
  if (request_->granted) granted_ = std::exchange(request_->granted, std::nullopt);
}

/// Finds out who keeps SQLite's lock. In a crowd the holder changes, and the wait ends without a word.
void WriteQueue::watch_holder() {
  auto holder = write_lock_holder(journal_);
  const bool same = holder && holder == holder_;
  holder_ = std::move(holder);
  if (!same || told_) return;
  const bool ended = holder_->stopped && waits_.ends_stopped_holder && end_stopped_holder(journal_, *holder_);
  told_ = !ended;  // another stopped process may be next
  if (!waits_.notice) return;
  const std::string pid = std::to_string(holder_->pid);
  waits_.notice(ended ? "ended process " + pid + ", which was stopped and held the write lock of journal " +
                            journal_
                      : "waiting for journal " + journal_ + ": " + describe(*holder_));
}

bool WriteQueue::is_over() {
  const auto now = Clock::now();
  if (waits_.stop.stop_requested() && !stop_seen_) stop_seen_ = now;
  if (stop_seen_ && now - *stop_seen_ >= kAfterStop) return true;
  const Clock::time_point closed{Clock::duration{closed_at_}};
  return closed.time_since_epoch().count() != 0 && now - closed >= kAfterClose;
}

Error WriteQueue::gave_up() const {
  const auto holder = write_lock_holder(journal_);
  const std::string who = holder ? describe(*holder) : "other processes hold the write lock";
  return make_error(ErrorCode::kJournal, ErrorKind::kIo, "journal " + journal_ + ": " + who, true);
}

}  // namespace praxis
