// Follows the log of a task of A2A and gives its changes to the queue of one address: first the task, then
// each change of its state and the whole answer, until it ends.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "server/a2a_codec.hpp"
#include "server/push_queue.hpp"

namespace praxis::server {

/// Thread-safe. Owned by a `shared_ptr`. The run never waits for it.
class PushedTask final : public FeedSink, public std::enable_shared_from_this<PushedTask> {
 public:
  /// Where the changes of tasks come from.
  struct Source {
    std::shared_ptr<Journal> journal;
    std::shared_ptr<Runs> runs;
  };
  PushedTask(Source source, std::shared_ptr<const PushQueue::Means> means, A2aTaskId task,
             std::shared_ptr<PushQueue> queue);

  /// Begins; `feed` tells of changes. Blocks for a read of the journal. Error `kJournal`.
  Status start(EventFeed& feed);
  /// Gives nothing more, and stops the queue.
  void stop();

  bool on_frame(const Frame& frame) override;
  bool on_idle() override;
  void on_end() override;
  bool has_room() const override { return true; }

 private:
  void look_soon();
  void look();
  bool take_changes(std::string& out);
  void take_wait(std::string& out);
  void give(const std::string& lines);

  const Source source_;
  const std::shared_ptr<const PushQueue::Means> means_;
  const A2aTaskId task_;
  const std::shared_ptr<PushQueue> queue_;

  std::mutex mutex_;  // guards the next members
  bool is_looking_ = false, looks_again_ = false;
  bool is_over_ = false;

  // Used by one look at a time.
  A2aCodec codec_;
  app::StoredSession log_;  ///< its state; not its records
  LogReplay replay_;
  bool has_begun_ = false;
  std::set<std::string> said_waits_;  ///< the steps of the last change that said for what the task waits
};

}  // namespace praxis::server
