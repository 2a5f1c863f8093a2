#include "journal/memory_inbox.hpp"

#include "journal/chain.hpp"

namespace praxis {

Result<InboxId> MemoryInbox::post(const SessionId& to, std::string body, UnixMillis now) {
  const auto found = waiting_for_.find(to);
  const auto waiting = found == waiting_for_.end() ? 0 : found->second.size();
  if (auto admitted = admit_message(to, body, waiting); !admitted) return fail(std::move(admitted.error()));
  const auto id = ++last_;
  waiting_.emplace(id, InboxMessage{id, to, now, std::move(body)});
  waiting_for_[to].insert(id);
  return id;
}

std::vector<InboxMessage> MemoryInbox::messages(InboxId after) const {
  std::vector<InboxMessage> found;
  for (auto next = waiting_.upper_bound(after); next != waiting_.end() && found.size() < kInboxPage; ++next) {
    found.push_back(next->second);
  }
  return found;
}

std::vector<InboxMessage> MemoryInbox::messages_for(const SessionId& session, InboxId after) const {
  std::vector<InboxMessage> found;
  const auto ids = waiting_for_.find(session);
  if (ids == waiting_for_.end()) return found;
  for (auto next = ids->second.upper_bound(after); next != ids->second.end() && found.size() < kInboxPage;
       ++next) {
    found.push_back(waiting_.at(*next));
  }
  return found;
}

Status MemoryInbox::check(const SessionId& session, const std::vector<InboxAnswer>& answers) const {
  std::set<InboxId> now;
  for (const auto& answer : answers) {
    if (auto admitted = admit_outcome(answer); !admitted) return admitted;
    if (outcomes_.contains(answer.message) || !now.insert(answer.message).second)
      return fail(already_answered(answer.message));
    const auto message = waiting_.find(answer.message);
    if (message == waiting_.end() || message->second.session != session)
      return fail(no_such_message(answer.message));
  }
  return {};
}

Status MemoryInbox::answer(const SessionId& session, std::vector<InboxAnswer> answers) {
  if (auto checked = check(session, answers); !checked || answers.empty()) return checked;
  auto& ids = waiting_for_.at(session);
  for (auto& [message, outcome] : answers) {
    ids.erase(message);
    waiting_.erase(message);
    outcomes_.emplace(message, std::move(outcome));
    answered_.push_back(message);
    if (answered_.size() > kInboxOutcomesKept) {
      outcomes_.erase(answered_.front());
      answered_.pop_front();
    }
  }
  if (ids.empty()) waiting_for_.erase(session);
  return {};
}

Result<std::optional<std::string>> MemoryInbox::outcome(InboxId message) const {
  if (const auto found = outcomes_.find(message); found != outcomes_.end()) return found->second;
  if (waiting_.contains(message)) return std::nullopt;
  return fail(no_such_message(message));
}

}  // namespace praxis
