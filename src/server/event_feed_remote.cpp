// The part of the feed that is about sessions of other processes.
#include <algorithm>
#include <utility>

#include "server/event_feed.hpp"

namespace praxis::server {

void EventFeed::follow_others(std::function<void()> on_interests) {
  follows_others_ = true;
  on_interests_ = std::move(on_interests);
}

std::set<SessionId> EventFeed::interests() {
  std::set<SessionId> sessions;
  for (const ObserverPtr& observer : joined()) {
    const FeedFilter& filter = observer->filter;
    const bool wants_pieces = wants(filter, events::TextDelta{}) || wants(filter, events::ReasoningDelta{}) ||
                              wants(filter, events::ToolCallDelta{}) || wants(filter, events::ToolProgress{});
    if (wants_pieces && !filter.relays && !observer->gone) sessions.insert(filter.session);
  }
  return sessions;
}

bool EventFeed::take_remote(RemotePiece piece) {
  using Taken = RemoteAnswers::Taken;
  const SessionId& session = piece.event.agent.id;
  Taken taken = Taken::kOld;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || joined_.empty()) return true;
    taken = remote_.take(piece);
  }
  if (taken == Taken::kAsk) {
    const auto row = journal_->session(session);
    const std::lock_guard lock(mutex_);
    remote_.note_record(session, row ? row->entries : 0);
    taken = remote_.take(piece);
  }
  if (taken == Taken::kNew) publish(piece.event, Source::kOther);
  return taken != Taken::kGap;
}

void EventFeed::note_records(const std::vector<Change>& changes) {
  if (!follows_others_) return;
  const std::lock_guard lock(mutex_);
  for (const Change& change : changes) remote_.note_record(change.session, change.seq);
}

void EventFeed::forget_unwatched() {
  std::vector<SessionId> open;
  {
    const std::lock_guard lock(mutex_);
    open = remote_.open();
  }
  // Without the lock, because lineages may take a read of the journal.
  const std::vector<ObserverPtr> observers = joined();
  std::erase_if(open, [&](const SessionId& session) {
    const SessionId root = lineages_.root_of(session);
    return std::ranges::any_of(observers, [&](const ObserverPtr& observer) {
      return !observer->filter.relays && covers(observer->filter, lineages_, session, root);
    });
  });
  const std::lock_guard lock(mutex_);
  if (observers != joined_) return;  // it is called again
  for (const SessionId& session : open) {
    remote_.forget(session);
    partials_.erase(session);
    redactor_.forget(session);
  }
}

}  // namespace praxis::server
