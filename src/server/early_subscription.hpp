// A subscription that begins before its reader is there: what happens meanwhile is held for it, so that a
// client which starts a turn and follows it misses nothing of the turn.
#pragma once

#include <memory>

#include "server/event_feed.hpp"

namespace praxis::server {

class HeldFrames;

/// Used by one thread at a time. Without a reader it ends when it is destroyed.
class EarlySubscription {
 public:
  explicit EarlySubscription(std::shared_ptr<EventFeed> feed);
  ~EarlySubscription();
  EarlySubscription(const EarlySubscription&) = delete;
  EarlySubscription& operator=(const EarlySubscription&) = delete;

  /// Holds what the filter lets pass from now on. Blocks for one read of the journal. Call once. Error
  /// `kJournal`.
  Status begin(FeedFilter filter);
  /// Gives `sink` what was held, and from then on what happens. Call once, after `begin`. `sink` may own this
  /// object, which keeps nothing of it.
  void give_to(std::shared_ptr<FeedSink> sink);

 private:
  const std::shared_ptr<EventFeed> feed_;
  std::shared_ptr<HeldFrames> held_;  ///< null once there is a reader
};

}  // namespace praxis::server
