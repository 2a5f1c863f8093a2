#include "server/open_runs.hpp"

namespace praxis::server {

OpenRuns::Use OpenRuns::used(const SessionId& run, const std::shared_ptr<Entry>& entry) {
  ++entry->uses;
  ++entry->in_use;
  return Use(entry->session,
             {this, [self = shared_from_this(), run, entry](void*) { self->end_use(run, *entry); }});
}

void OpenRuns::end_use(const SessionId& run, Entry& entry) {
  {
    const std::lock_guard lock(mutex_);
    if (--entry.in_use > 0 || !std::exchange(entry.may_be_idle, false)) return;
  }
  executor_->post_blocking([self = shared_from_this(), run] { self->close_if_idle(run); });
}

OpenRuns::Use OpenRuns::keep(const SessionId& run, const Session& session) {
  const std::lock_guard lock(mutex_);
  const auto entry = std::make_shared<Entry>(Entry{.session = session});
  open_.insert_or_assign(run, entry);
  return used(run, entry);
}

std::optional<OpenRuns::Use> OpenRuns::use(const SessionId& run) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(run);
  if (found == open_.end()) return std::nullopt;
  return used(run, found->second);
}

std::optional<Session> OpenRuns::find(const SessionId& run) const {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(run);
  if (found == open_.end()) return std::nullopt;
  return found->second->session;
}

std::vector<std::pair<SessionId, Session>> OpenRuns::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<SessionId, Session>> all;
  for (const auto& [run, entry] : open_) all.emplace_back(run, entry->session);
  return all;
}

void OpenRuns::close_if_idle(const SessionId& run) {
  while (true) {
    std::shared_ptr<Entry> entry;  // so that the erased one is not the last handle
    std::uint64_t uses = 0;
    {
      const std::lock_guard lock(mutex_);
      const auto found = open_.find(run);
      if (found == open_.end()) return;
      entry = found->second;
      uses = entry->uses;
      if (entry->in_use > 0) {
        entry->may_be_idle = true;
        return;
      }
    }
    const SessionStatus status = entry->session.status();
    if (status == SessionStatus::kRunning || status == SessionStatus::kAwaitingUser) return;
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(run);
    if (found == open_.end() || found->second != entry) return;
    if (entry->uses != uses) continue;  // a turn may have begun since the session was asked
    open_.erase(found);
    return;
  }
}

void OpenRuns::forget(const SessionId& run) {
  std::shared_ptr<Entry> last;  // goes without the lock
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(run);
  if (found == open_.end()) return;
  last = std::move(found->second);
  open_.erase(found);
}

}  // namespace praxis::server
