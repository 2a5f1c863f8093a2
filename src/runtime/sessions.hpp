// Bringing sessions to life: a new one, one from the journal, and the list of those that are awake.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "praxis/runtime/commands.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis {

class Budget;
class SessionActor;
struct Services;

/// Where a session stands in the agent tree while it is awake.
struct Origin {
  std::shared_ptr<SessionActor> above;  ///< null for a root
  CallId call;                          ///< of `above`, whose handler made the session
  std::shared_ptr<Budget> budget;       ///< of the turn of `above`; null when nothing there is bounded
};

/// The sessions of one runtime that are awake. Thread-safe; keeps none of them alive.
class LiveSessions {
 public:
  void add(const std::shared_ptr<SessionActor>& actor);
  /// Null when it is not awake, or no longer usable.
  std::shared_ptr<SessionActor> find(const SessionId& id);
  std::vector<std::shared_ptr<SessionActor>> all();
  bool any();

 private:
  static constexpr std::size_t kForgetAt = 64;
  void forget_gone();

  std::mutex mutex_;
  std::map<SessionId, std::weak_ptr<SessionActor>> sessions_;
  std::size_t forget_at_ = kForgetAt;  ///< with so many entries those of sessions that are gone are dropped
};

/// What a new session begins with.
struct Birth {
  SessionId id;                     ///< empty: a new one
  Json metadata = nullptr;          ///< instead of the agent's; null: the agent's
  std::vector<MessagePtr> history;  ///< the conversation so far
};

/// A new session; its first records are durable when this returns.
Result<std::shared_ptr<SessionActor>> create_session(const std::shared_ptr<Services>& services,
                                                     const std::shared_ptr<const AgentDescription>& agent,
                                                     Birth birth, Origin origin);
/// A session from the journal, as `Runtime::open_session`.
Result<std::shared_ptr<SessionActor>> open_session(const std::shared_ptr<Services>& services,
                                                   const SessionId& session,
                                                   const std::shared_ptr<const AgentDescription>& agent,
                                                   bool force, Origin origin);

/// Carries out a request: on the target's actor when it is active here, else as `deliver`. Errors `kInput`
/// (unknown session, refused, not sendable), `kJournal` (`detail.kind` is `queued` when the owner has not
/// answered yet).
Status carry_out(const std::shared_ptr<Services>& services, InboxRequest request);

}  // namespace praxis
