// The single writer of a SQLite journal. It puts all queued writes into one transaction, so that concurrent
// sessions share one sync. A write that fails leaves no trace and does not affect the others. A lone write
// posted from an idle event loop is committed on that loop's thread; the writer thread reclaims it when a
// second write arrives.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "journal/acknowledged.hpp"
#include "journal/open_journals.hpp"
#include "praxis/base/executor.hpp"
#include "store/sqlite.hpp"

namespace praxis {

class GroupCommit : public std::enable_shared_from_this<GroupCommit> {
 public:
  /// Changes the database within a transaction. Called again, after a rollback, when another write of its
  /// group failed or did not fit on the disk.
  using Change = std::move_only_function<Status(Database&)>;
  using Done = std::move_only_function<void(Status)>;

  /// Starts the writer thread. Notes in `acknowledged` where the journal ends after each durable commit.
  static std::shared_ptr<GroupCommit> start(Database database, HeadFile acknowledged);
  /// Closes the connection. Files that were taken away stay as they are.
  ~GroupCommit();
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  /// Queues `change`; calls `done` outside any lock, once the change is on the disk. Calls of `done` come one
  /// at a time, in the order of the pushes.
  void push(Change change, Done done) {
    enqueue({std::move(change), std::move(done), Use::kWriteDurably, false});
  }
  /// The same, but the change reaches the disk with the next durable one, and `done` is called before any
  /// later change: it must not call this object.
  void push_lazily(Change change, Done done) {
    enqueue({std::move(change), std::move(done), Use::kWrite, false});
  }
  /// Queues `change` and waits until it is visible to all connections; it reaches the disk with the next
  /// durable one. May be called from a `done`.
  Status run(Change change) { return wait_for(std::move(change), Use::kWrite); }
  /// The same, and waits until it is on the disk.
  Status run_durably(Change change) { return wait_for(std::move(change), Use::kWriteDurably); }
  /// Calls `read`, which changes nothing, with the connection of the writer: it can read a journal whose
  /// files were taken away, and what it has in memory of those that were cut.
  Status run_reading(Change read) { return wait_for(std::move(read), Use::kRead); }
  /// Finishes the queue and ends the thread; when called from a `done`, soon after that returns. Writes for
  /// which another process keeps the lock ten seconds longer fail.
  void stop();

 private:
  enum class Use : std::uint8_t { kRead, kWrite, kWriteDurably };

  struct Write {
    Change change;
    Done done;
    Use use;
    bool awaited;  ///< a thread waits for `done`
  };

  class Loan;

  struct Settled {
    Done done;
    Status outcome;
  };

  GroupCommit(Database database, HeadFile acknowledged);
  Status wait_for(Change change, Use use);
  void enqueue(Write write);
  bool has_to_wake(bool comes_alone, bool awaited, Task& loan);
  void work();
  void work_off_loan();
  void end_loan();
  void serve();
  bool serves_here();
  void gather(std::unique_lock<std::mutex>& lock);
  void commit_queued();
  void commit(std::span<Write> group);
  void read_what_is_left(std::span<Write> group, std::span<Status> outcomes);
  Result<WriteTurn> begin();
  Status transact(std::span<Write> group, std::span<Status> outcomes);
  std::optional<std::size_t> apply(std::span<Write> group, std::span<Status> outcomes);
  Status recover_from_failed_sync();
  void checkpoint();

  const OpenJournal open_ = count_open_journal();  // destroyed last, after the connection
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Write> queue_;
  bool hurried_ = false;  // a thread is blocked until a queued write is done
  bool stopping_ = false;
  bool lent_ = false;  // an event loop will commit the one write in the queue
  // The thread that commits or reports outcomes; only that thread may do so.
  std::thread::id server_ = {};
  std::size_t last_group_ = 0;
  std::thread thread_;
  const std::shared_ptr<WriteQueue> queue_of_writers_;  // of `database_`; null: it waits without order

  // Only the thread `server_` accesses these.
  Database database_;
  HeadFile acknowledged_;
  std::deque<Settled> settled_;  // outstanding calls of `done`
  bool synchronous_ = true;
  bool sync_failed_ = false;
  int wal_pages_ = 0;  // length of the write-ahead log
  int checkpoint_at_;
};

}  // namespace praxis
