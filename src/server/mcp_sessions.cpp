#include "server/mcp_sessions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace praxis::server {

// ---- calls

void McpRunningCall::set_run(SessionId run) {
  const std::lock_guard lock(mutex_);
  run_ = std::move(run);
}

void McpRunningCall::end() {
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
}

bool McpRunningCall::has_ended() const {
  const std::lock_guard lock(mutex_);
  return has_ended_;
}

SessionId McpRunningCall::cancel() {
  const std::lock_guard lock(mutex_);
  if (has_ended_) return {};
  is_cancelled_ = true;
  return run_;
}

bool McpRunningCall::is_cancelled() const {
  const std::lock_guard lock(mutex_);
  return is_cancelled_;
}

// ---- sessions

std::string McpSessions::open(const std::string& account) {
  std::string id = fmt::format("{:016x}{:016x}", environment_->random(), environment_->random());
  const std::lock_guard lock(mutex_);
  make_room(account);
  sessions_.insert_or_assign(id, Entry{account, ++uses_});
  return id;
}

void McpSessions::make_room(const std::string& account) {
  std::size_t count = 0;
  auto oldest = sessions_.end();
  for (auto each = sessions_.begin(); each != sessions_.end(); ++each) {
    if (each->second.account != account) continue;
    ++count;
    if (oldest == sessions_.end() || each->second.used < oldest->second.used) oldest = each;
  }
  if (count >= kMostOfAccount) sessions_.erase(oldest);
}

bool McpSessions::use(const std::string& session, const std::string& account) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.account != account) return false;
  found->second.used = ++uses_;
  return true;
}

bool McpSessions::end(const std::string& session, const std::string& account) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.account != account) return false;
  sessions_.erase(found);
  return true;
}

std::shared_ptr<McpRunningCall> McpSessions::begin_call(const std::string& session,
                                                        const std::string& request) {
  auto call = std::make_shared<McpRunningCall>();
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return call;
  auto& calls = found->second.calls;
  std::erase_if(calls, [](const auto& entry) {
    const auto known = entry.second.lock();
    return !known || known->has_ended();
  });
  return calls.emplace(request, call).second ? call : nullptr;
}

std::shared_ptr<McpRunningCall> McpSessions::call_of(const std::string& session, const std::string& request) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return nullptr;
  const auto call = found->second.calls.find(request);
  return call == found->second.calls.end() ? nullptr : call->second.lock();
}

void McpSessions::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

bool McpSessions::is_stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

}  // namespace praxis::server
