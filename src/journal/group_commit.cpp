#include "journal/group_commit.hpp"

#include <future>

#include "base/idle_task.hpp"
#include "journal/chain.hpp"

namespace praxis {
namespace {

// The write-ahead log is copied into the file every 4 MB. Readers can block that; from 64 MB on the
// checkpoint waits for them.
constexpr int kCheckpointPages = 1000;
constexpr int kWaitForReadersPages = 16 * kCheckpointPages;
constexpr int kWaitForReadersMs = 100;

// A sync costs as much as some ten writes. While at least `kCrowd` writers are active, the writer therefore
// gathers a group for as long as every time slice brings another write. With fewer writers, gathering would
// only delay them.
constexpr std::size_t kCrowd = 4;
constexpr std::chrono::microseconds kGatherSlice{250};
constexpr int kGatherSlices = 4;

}  // namespace

/// A task for an event loop: commits a single write. If it is destroyed unused, the write goes back to the
/// writer thread. It holds no reference to the writer, whose destruction must close its connection.
class GroupCommit::Loan {
 public:
  explicit Loan(std::weak_ptr<GroupCommit> writer) : writer_(std::move(writer)) {}
  Loan(Loan&&) = default;
  Loan& operator=(Loan&&) = delete;
  ~Loan() {
    if (const auto writer = writer_.lock()) writer->end_loan();
  }
  void operator()() const {
    if (const auto writer = writer_.lock()) writer->work_off_loan();
  }

 private:
  std::weak_ptr<GroupCommit> writer_;
};

std::shared_ptr<GroupCommit> GroupCommit::start(Database database, HeadFile acknowledged) {
  std::shared_ptr<GroupCommit> writer(new GroupCommit(std::move(database), std::move(acknowledged)));
  writer->thread_ = std::thread([writer] { writer->work(); });
  return writer;
}

GroupCommit::GroupCommit(Database database, HeadFile acknowledged)
    : queue_of_writers_(database.queue()),
      database_(std::move(database)),
      acknowledged_(std::move(acknowledged)),
      checkpoint_at_(kCheckpointPages) {
  const auto note_pages = [](void* pages, sqlite3*, const char*, int count) {
    *static_cast<int*>(pages) = count;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(database_.handle(), note_pages, &wal_pages_);  // replaces SQLite's own checkpoints
}

GroupCommit::~GroupCommit() {
  if (!database_.in_place() || !database_.log_is_whole()) database_.keep_log_on_close(true);
}

Status GroupCommit::wait_for(Change change, Use use) {
  std::promise<Status> outcome;
  enqueue({std::move(change), [&](Status status) { outcome.set_value(std::move(status)); }, use, true});
  // No transaction is open while a `done` runs, so a `done` that waits commits the queue itself.
  if (serves_here()) commit_queued();
  return outcome.get_future().get();
}

bool GroupCommit::serves_here() {
  const std::lock_guard lock(mutex_);
  return server_ == std::this_thread::get_id();
}

void GroupCommit::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  if (queue_of_writers_) queue_of_writers_->close();
  wake_.notify_one();
  if (serves_here()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void GroupCommit::enqueue(Write write) {
  Task loan;  // an unused loan is returned after the lock is released
  bool wakes;
  {
    std::lock_guard lock(mutex_);
    hurried_ = hurried_ || write.awaited;
    wakes = has_to_wake(queue_.empty(), write.awaited, loan);
    queue_.push_back(std::move(write));
  }
  if (wakes) wake_.notify_one();
}

/// Whether to wake the writer thread for a write; lends the write to an event loop instead if possible.
bool GroupCommit::has_to_wake(bool comes_alone, bool awaited, Task& loan) {
  if (server_ != std::thread::id()) return awaited;  // the serving thread checks the queue again, or gathers
  if (comes_alone && !awaited && last_group_ <= 1 && !stopping_) {
    loan = Loan(weak_from_this());
    lent_ = run_when_idle(loan);
    return !lent_;
  }
  return std::exchange(lent_, false) || comes_alone || awaited;
}

void GroupCommit::work() {
  const auto has_work = [this] {
    return server_ == std::thread::id() && (stopping_ || (!lent_ && !queue_.empty()));
  };
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, has_work);
      if (queue_.empty()) return;
      lent_ = false;
      server_ = std::this_thread::get_id();
      gather(lock);
    }
    serve();
  }
}

void GroupCommit::work_off_loan() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(lent_, false)) return;
    server_ = std::this_thread::get_id();
  }
  serve();
}

void GroupCommit::end_loan() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(lent_, false)) return;
  }
  wake_.notify_one();
}

void GroupCommit::serve() {
  commit_queued();
  for (; !settled_.empty(); settled_.pop_front()) {
    auto& [done, outcome] = settled_.front();
    done(std::move(outcome));
  }
  checkpoint();
  bool more;
  {
    const std::lock_guard lock(mutex_);
    server_ = {};
    more = stopping_ || !queue_.empty();
  }
  if (more) wake_.notify_one();
}

/// Does not gather for few writers, or while a thread is blocked on its write.
void GroupCommit::gather(std::unique_lock<std::mutex>& lock) {
  if (last_group_ < kCrowd) return;
  for (int slice = 0; slice < kGatherSlices; ++slice) {
    const std::size_t before = queue_.size();
    const bool now = wake_.wait_for(lock, kGatherSlice, [this] { return stopping_ || hurried_; });
    if (now || queue_.size() == before) return;
  }
}

void GroupCommit::commit_queued() {
  std::vector<Write> group;
  {
    std::lock_guard lock(mutex_);
    group.swap(queue_);
    hurried_ = false;
    last_group_ = group.size();
  }
  commit(group);
}

void GroupCommit::commit(std::span<Write> group) {
  std::vector<Status> outcomes(group.size());
  auto committed = transact(group, outcomes);
  if (!committed) {
    // A file that was taken away is the reason of any failure.
    if (auto in_place = database_.in_place(); !in_place) committed = in_place;
    std::ranges::fill(outcomes, committed);
    if (is_taken_away(committed.error())) read_what_is_left(group, outcomes);
  }
  if (!committed && committed.error().kind() == ErrorKind::kFull && group.size() > 1) {
    for (auto& write : group) commit({&write, 1});  // a small write may fit where a large one does not
    return;
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (group[i].awaited || group[i].use != Use::kWriteDurably) {
      group[i].done(std::move(outcomes[i]));
    } else {
      settled_.push_back({std::move(group[i].done), std::move(outcomes[i])});
    }
  }
}

/// Reads with the connection that still has the files.
void GroupCommit::read_what_is_left(std::span<Write> group, std::span<Status> outcomes) {
  if (database_.places()->index_is_cut()) return;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (group[i].use == Use::kRead) outcomes[i] = group[i].change(database_);
  }
}

Status GroupCommit::transact(std::span<Write> group, std::span<Status> outcomes) {
  if (auto in_place = database_.index_in_place(); !in_place) return in_place;
  if (auto recovered = recover_from_failed_sync(); !recovered) return recovered;
  const bool synchronous =
      std::ranges::any_of(group, [](const Write& write) { return write.use == Use::kWriteDurably; });
  if (synchronous != synchronous_) {
    auto set = database_.run(synchronous ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    if (!set) return set;
    synchronous_ = synchronous;
  }
  std::optional<WriteTurn> turn;  // until the transaction has ended
  while (true) {
    turn.reset();
    auto begun = begin();
    if (!begun) return fail(std::move(begun.error()));
    turn.emplace(*std::move(begun));
    const auto failed = apply(group, outcomes);
    if (!failed) break;
    // A disk error has rolled back the whole group.
    if (!database_.in_transaction()) return outcomes[*failed];
    if (auto undone = database_.run("ROLLBACK"); !undone) return undone;
  }
  // Read before the commit, which ends the transaction and so saves a second one; written after it: a process
  // that dies in a commit may leave it undone, although it was synced.
  const auto head = synchronous ? select_journal_head(database_) : Result<JournalHead>();
  if (!head && !database_.in_transaction()) return fail(head.error());  // a disk error has rolled it back
  auto committed = database_.run("COMMIT");
  if (committed) committed = database_.in_place();  // no other process would find what this one confirms
  if (synchronous && committed && head) acknowledged_.write(*head);
  if (!committed) {
    sync_failed_ = sync_failed_ || database_.sync_failed();
    if (database_.in_transaction()) std::ignore = database_.run("ROLLBACK");
  }
  return committed;
}

Result<WriteTurn> GroupCommit::begin() {
  auto turn = database_.begin();
  if (!turn) return turn;
  auto whole = database_.log_is_whole();
  if (whole) return turn;
  std::ignore = database_.run("ROLLBACK");
  return fail(std::move(whole.error()));
}

/// Applies all writes that have not failed yet. Returns the first one that fails now: then all must be rolled
/// back and applied again without it. That is rare, and savepoints would slow down every write.
std::optional<std::size_t> GroupCommit::apply(std::span<Write> group, std::span<Status> outcomes) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (!outcomes[i]) continue;
    outcomes[i] = group[i].change(database_);
    if (!outcomes[i]) return i;
  }
  return std::nullopt;
}

/// After a failed sync, confirms nothing more until all committed data is known to be on the disk. The data
/// stays in the log for that: copying it into the file could tear the file in a power failure, with no intact
/// log to repair it from.
Status GroupCommit::recover_from_failed_sync() {
  if (!sync_failed_) return {};
  auto rewritten = database_.rewrite_log();
  if (rewritten) sync_failed_ = false;
  return rewritten;
}

void GroupCommit::checkpoint() {
  if (wal_pages_ < kCheckpointPages) checkpoint_at_ = kCheckpointPages;  // the log was restarted
  if (wal_pages_ < checkpoint_at_) return;
  const int mode = wal_pages_ < kWaitForReadersPages ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_RESTART;
  database_.wait_for_locks<kWaitForReadersMs>();
  // If the checkpoint fails, the next one repeats it; but it also syncs the log, and that failure must be
  // recorded.
  if (sqlite3_wal_checkpoint_v2(database_.handle(), nullptr, mode, nullptr, nullptr) != SQLITE_OK)
    sync_failed_ = sync_failed_ || database_.sync_failed();
  database_.wait_for_locks<kBusyTimeoutMs>();
  checkpoint_at_ = wal_pages_ + kCheckpointPages;
}

}  // namespace praxis
