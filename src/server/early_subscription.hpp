// A subscription that begins before its reader is there: what happens meanwhile is held for it, so that a
// client which starts a turn and follows it misses nothing of the turn.
#pragma once

#include <memory>

#include "server/event_feed.hpp"

namespace praxis::server {

class HeldFrames;

/// Thread-safe, except that `begin` comes before `give_to`. Without a reader it ends when it is destroyed.
class EarlySubscription {
 public:
  explicit EarlySubscription(std::shared_ptr<EventFeed> feed);
  ~EarlySubscription();
  EarlySubscription(const EarlySubscription&) = delete;
  EarlySubscription& operator=(const EarlySubscription&) = delete;

  /// Holds what the filter lets pass from now on. Blocks for one read of the journal. Call once. Error
  /// `kJournal`.
  Status begin(FeedFilter filter);
  /// Gives `sink` what was held, and from then on what happens.
  void give_to(std::shared_ptr<FeedSink> sink);

 private:
  const std::shared_ptr<EventFeed> feed_;
  const std::shared_ptr<HeldFrames> held_;
};

}  // namespace praxis::server
