// The push notifications of A2A: who gets the changes of which task. What was asked for is kept in a file
// next to the journal, until the task has ended or the client takes it back.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/pushed_task.hpp"

namespace praxis::server {

/// Thread-safe; blocks for journal and file, so call it on workers. Owned by a `shared_ptr`.
class A2aPush : public std::enable_shared_from_this<A2aPush> {
 public:
  using Warn = std::function<void(const std::string&)>;
  /// The rules of a server. Null if it sends nothing: they name no host. Errors: `kInput`, a host is not
  /// valid, or the journal is not a file; of `PushFile::open`.
  static Result<std::shared_ptr<A2aPush>> open(const app::Workspace& workspace, PushRules rules,
                                               PushedTask::Source source, std::shared_ptr<EventFeed> feed,
                                               std::shared_ptr<Executor> executor, Warn warn);
  A2aPush(std::unique_ptr<app::PushFile> file, std::shared_ptr<const PushQueue::Means> means,
          PushedTask::Source source, std::shared_ptr<EventFeed> feed, Warn warn);

  /// Continues with what the file has. Call once.
  Status start();
  /// Sends nothing more. What was not delivered is after the next start.
  void stop();

  /// Whether an address may get anything. Error `kInput` names the field, which begins with `where`, and the
  /// host.
  Status check(const app::PushAddress& address, const std::string& where = {}) const;
  /// Adds an address, durably, or replaces the one of the same task and id. Errors: of `check`; `kLimit`, too
  /// many; `kJournal`.
  Status add(const app::PushAddress& address);
  /// Those of a task, by their ids.
  std::vector<app::PushAddress> of_task(const std::string& task) const;
  std::optional<app::PushAddress> find(const std::string& task, const std::string& id) const;
  /// No notification begins after it. No-op if the address is missing. Error `kJournal`.
  Status remove(const std::string& task, const std::string& id);

 private:
  using Key = std::pair<std::string, std::string>;  // task and id
  struct Entry {
    app::PushAddress address;
    std::shared_ptr<PushedTask> pushed;
    std::uint64_t number = 0;  ///< tells it from the one whose place it took
  };

  Status begin(const app::PushAddress& address);
  void on_end(const Key& key, std::uint64_t number, PushQueue::End how);

  const std::unique_ptr<app::PushFile> file_;
  const std::shared_ptr<const PushQueue::Means> means_;
  const PushedTask::Source source_;
  const std::shared_ptr<EventFeed> feed_;
  const Warn warn_;
  mutable std::mutex mutex_;  // guards the next members
  std::map<Key, Entry> entries_;
  std::uint64_t last_number_ = 0;
  bool is_stopped_ = false;
};

}  // namespace praxis::server
