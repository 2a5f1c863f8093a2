// Leases of sessions that their first append will create, and leases whose release failed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "praxis/journal/journal.hpp"

namespace praxis {

/// Leases that this process knows and the storage does not yet. Thread-safe; shared with queued writes, which
/// may outlive the journal.
class OpenLeases {
 public:
  /// Begins the lease of a session that the first append will create, which until then may take it. Returns
  /// `std::nullopt` if the session has been begun already.
  std::optional<Lease> begin(const SessionId& session, UnixMillis now) {
    const std::lock_guard lock(mutex_);
    // Tokens differ even when a session that was never written is begun again, so that the old lease is
    // invalid.
    if (!begun_.try_emplace(session, Begun{now, next_token_}).second) return std::nullopt;
    return Lease{session, next_token_++};
  }
  /// If this append is the one to create the session, returns the time when it was begun.
  std::optional<UnixMillis> queue(const Lease& lease) {
    const std::lock_guard lock(mutex_);
    Begun* begun = find(lease);
    if (begun == nullptr || std::exchange(begun->busy, true)) return std::nullopt;
    return begun->created;
  }
  /// The session does not exist, or the append that creates it has failed: the next append creates it.
  void free(const Lease& lease) {
    const std::lock_guard lock(mutex_);
    Begun* begun = find(lease);
    if (begun == nullptr) return;
    begun->busy = false;
    if (begun->released) begun_.erase(lease.session);
  }
  /// The session exists now.
  void made(const SessionId& session) {
    const std::lock_guard lock(mutex_);
    begun_.erase(session);
  }
  /// Gives up a session that will not be written. False if it is not a begun session, or an append is
  /// creating it.
  bool drop(const Lease& lease) {
    const std::lock_guard lock(mutex_);
    Begun* begun = find(lease);
    if (begun == nullptr) return false;
    begun->released = true;
    if (begun->busy) return false;
    begun_.erase(lease.session);
    return true;
  }
  /// Whether an append that creates the session (if empty: any session) is queued.
  bool is_queued(const SessionId& session) {
    const std::lock_guard lock(mutex_);
    if (session.empty())
      return std::ranges::any_of(begun_, [](const auto& each) { return each.second.busy; });
    const auto begun = begun_.find(session);
    return begun != begun_.end() && begun->second.busy;
  }

  /// Keeps a released lease whose release the storage refused.
  void keep(const Lease& lease) {
    const std::lock_guard lock(mutex_);
    std::erase_if(unreleased_, [&](const Lease& old) { return old.session == lease.session; });
    unreleased_.push_back(lease);
  }
  std::vector<Lease> kept(const SessionId& session) {
    const std::lock_guard lock(mutex_);
    std::vector<Lease> left = unreleased_;
    std::erase_if(left, [&](const Lease& lease) { return lease.session != session; });
    return left;
  }
  void forget(const SessionId& session) {
    const std::lock_guard lock(mutex_);
    std::erase_if(unreleased_, [&](const Lease& old) { return old.session == session; });
  }

 private:
  struct Begun {
    UnixMillis created;
    std::uint64_t token = 0;
    bool busy = true;
    bool released = false;
  };

  Begun* find(const Lease& lease) {
    const auto begun = begun_.find(lease.session);
    return begun == begun_.end() || begun->second.token != lease.token ? nullptr : &begun->second;
  }

  std::mutex mutex_;
  std::unordered_map<SessionId, Begun> begun_;
  std::uint64_t next_token_ = 1;
  std::vector<Lease> unreleased_;
};

}  // namespace praxis
