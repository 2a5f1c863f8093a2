// The events of a run from its end backwards, page by page, without those before them.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "praxis/runtime/agent_tree.hpp"
#include "server/event_feed.hpp"

namespace praxis::server {

/// Consecutive events of the sessions that a filter covers.
struct PastEvents {
  std::vector<std::pair<Position, Event>> events;  ///< in the order of the journal
  /// The agents of these events that existed before: as they were before their first record here.
  std::vector<AgentNode> before;
  bool has_earlier = false;  ///< there are records before these
};

/// The events that the filter lets pass in the last `records` records before the event at `before`. Reads the
/// log of a session from a kept state on. The filter names a session. Errors of the journal.
Result<PastEvents> past_events(const std::shared_ptr<Journal>& journal, const std::shared_ptr<Folds>& folds,
                               Lineages& lineages, const FeedFilter& filter, const Position& before,
                               std::size_t records);

}  // namespace praxis::server
