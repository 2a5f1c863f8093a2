#include <algorithm>

#include "runtime/inbox_watcher.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {
namespace {

constexpr std::chrono::milliseconds kInterval{100};

}  // namespace

void InboxWatcher::watch() {
  if (!watching_.exchange(true)) look_soon(kInterval);
}

void InboxWatcher::watch(const SessionId& opened) {
  {
    const std::lock_guard lock(mutex_);
    opened_.push_back(opened);
  }
  if (!watching_.exchange(true)) look_soon(std::chrono::milliseconds{0});
}

void InboxWatcher::look_soon(std::chrono::milliseconds delay) {
  const auto services = services_.lock();
  if (!services) return;
  const auto& executor = services->options.executor;
  executor->after(delay, [weak = weak_from_this()] {
    const auto self = weak.lock();
    const auto alive = self ? self->services_.lock() : nullptr;
    if (alive) alive->options.executor->post_blocking([self] { self->look(); });
  });
}

void InboxWatcher::look() {
  const auto services = services_.lock();
  if (!services) return;
  for (const SessionId& session : addressees(*services->options.journal)) {
    if (const auto actor = services->live.find(session)) actor->collect_inbox();
  }
  if (services->live.any()) return look_soon(kInterval);
  watching_ = false;
  if (services->live.any()) watch();  // a session became active in between
}

std::vector<SessionId> InboxWatcher::addressees(Journal& journal) {
  std::vector<SessionId> sessions;
  {
    const std::lock_guard lock(mutex_);
    sessions = std::exchange(opened_, {});
  }
  // If the journal cannot be read now, the next poll tries again.
  for (auto page = journal.inbox().messages(seen_); page && !page->empty();
       page = journal.inbox().messages(seen_)) {
    for (const InboxMessage& message : *page) sessions.push_back(message.session);
    seen_ = page->back().id;
  }
  std::ranges::sort(sessions);
  const auto doubles = std::ranges::unique(sessions);
  sessions.erase(doubles.begin(), doubles.end());
  return sessions;
}

}  // namespace praxis
