#include "journal/memory_mailbox.hpp"

#include "journal/chain.hpp"

namespace praxis {

Result<MailId> MemoryMailbox::post(const SessionId& to, std::string body, UnixMillis now) {
  const auto found = waiting_for_.find(to);
  const auto waiting = found == waiting_for_.end() ? 0 : found->second.size();
  if (auto admitted = admit_mail(to, body, waiting); !admitted) return fail(std::move(admitted.error()));
  const auto id = ++last_;
  waiting_.emplace(id, Mail{id, to, now, std::move(body)});
  waiting_for_[to].insert(id);
  return id;
}

std::vector<Mail> MemoryMailbox::mail(MailId after) const {
  std::vector<Mail> found;
  for (auto next = waiting_.upper_bound(after); next != waiting_.end() && found.size() < kMailPage; ++next) {
    found.push_back(next->second);
  }
  return found;
}

std::vector<Mail> MemoryMailbox::mail_for(const SessionId& session, MailId after) const {
  std::vector<Mail> found;
  const auto ids = waiting_for_.find(session);
  if (ids == waiting_for_.end()) return found;
  for (auto next = ids->second.upper_bound(after); next != ids->second.end() && found.size() < kMailPage;
       ++next) {
    found.push_back(waiting_.at(*next));
  }
  return found;
}

Status MemoryMailbox::check(const SessionId& session, const std::vector<MailAnswer>& answers) const {
  std::set<MailId> now;
  for (const auto& answer : answers) {
    if (auto admitted = admit_outcome(answer); !admitted) return admitted;
    if (outcomes_.contains(answer.mail) || !now.insert(answer.mail).second)
      return fail(mail_answered(answer.mail));
    const auto mail = waiting_.find(answer.mail);
    if (mail == waiting_.end() || mail->second.session != session) return fail(no_such_mail(answer.mail));
  }
  return {};
}

Status MemoryMailbox::answer(const SessionId& session, std::vector<MailAnswer> answers) {
  if (auto checked = check(session, answers); !checked || answers.empty()) return checked;
  auto& ids = waiting_for_.at(session);
  for (auto& [mail, outcome] : answers) {
    ids.erase(mail);
    waiting_.erase(mail);
    outcomes_.emplace(mail, std::move(outcome));
    answered_.push_back(mail);
    if (answered_.size() > kMailOutcomesKept) {
      outcomes_.erase(answered_.front());
      answered_.pop_front();
    }
  }
  if (ids.empty()) waiting_for_.erase(session);
  return {};
}

Result<std::optional<std::string>> MemoryMailbox::outcome(MailId mail) const {
  if (const auto found = outcomes_.find(mail); found != outcomes_.end()) return found->second;
  if (waiting_.contains(mail)) return std::nullopt;
  return fail(no_such_mail(mail));
}

}  // namespace praxis
