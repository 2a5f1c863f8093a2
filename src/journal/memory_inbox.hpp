// The inboxes of a journal in memory.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "praxis/journal/journal.hpp"

namespace praxis {

/// As the members of `Inbox`, for existing sessions and valid leases. Not thread-safe.
class MemoryInbox {
 public:
  Result<InboxId> post(const SessionId& to, std::string body, UnixMillis now);
  std::vector<InboxMessage> messages(InboxId after) const;
  std::vector<InboxMessage> messages_for(const SessionId& session, InboxId after) const;
  /// Answers all of them or none.
  Status answer(const SessionId& session, std::vector<InboxAnswer> answers);
  Result<std::optional<std::string>> outcome(InboxId message) const;

 private:
  Status check(const SessionId& session, const std::vector<InboxAnswer>& answers) const;

  InboxId last_ = 0;
  std::map<InboxId, InboxMessage> waiting_;
  std::unordered_map<SessionId, std::set<InboxId>> waiting_for_;  // without empty sets
  std::map<InboxId, std::string> outcomes_;
  std::deque<InboxId> answered_;  // messages in `outcomes_`, oldest answer first
};

}  // namespace praxis
