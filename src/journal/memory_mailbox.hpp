// The mail of a journal in memory.
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

/// As the members of `Journal`, for sessions that exist and leases that are held. Not thread-safe.
class MemoryMailbox {
 public:
  Result<MailId> post(const SessionId& to, std::string body, UnixMillis now);
  std::vector<Mail> mail(MailId after) const;
  std::vector<Mail> mail_for(const SessionId& session, MailId after) const;
  /// All of them or none.
  Status answer(const SessionId& session, std::vector<MailAnswer> answers);
  Result<std::optional<std::string>> outcome(MailId mail) const;

 private:
  Status check(const SessionId& session, const std::vector<MailAnswer>& answers) const;

  MailId last_ = 0;
  std::map<MailId, Mail> waiting_;
  std::unordered_map<SessionId, std::set<MailId>> waiting_for_;  // no empty sets
  std::map<MailId, std::string> outcomes_;
  std::deque<MailId> answered_;  // those of `outcomes_`, first answered first
};

}  // namespace praxis
