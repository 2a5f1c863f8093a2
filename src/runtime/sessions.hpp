// Creates sessions, opens them from the journal, and lists those that are active.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "praxis/runtime/commands.hpp"
#include "praxis/runtime/runtime.hpp"
#include "runtime/scope.hpp"

namespace praxis {

class ParentLink;
class SessionActor;
struct Services;

/// The position of an active session in the agent tree.
struct Origin {
  std::shared_ptr<ParentLink> above;   ///< null for a root
  CallId call;                         ///< the call of `above` whose handler created the session
  std::shared_ptr<const Scope> scope;  ///< the scope of that call; null in the request for a root
};

/// The active sessions of one runtime. Thread-safe; keeps none of them alive.
class LiveSessions {
 public:
  void add(const std::shared_ptr<SessionActor>& actor);
  /// Null when the session is not active or no longer usable.
  std::shared_ptr<SessionActor> find(const SessionId& id);
  /// The same, but waits for a session that is announced, at most half a second: who has read that it begins
  /// may already want something of it.
  std::shared_ptr<SessionActor> find_soon(const SessionId& id);
  std::vector<std::shared_ptr<SessionActor>> all();
  bool any();

  /// From before the record that a session begins until it is active, or cannot become so.
  class Announcement {
   public:
    Announcement() = default;
    Announcement(LiveSessions& sessions, SessionId id);
    Announcement(Announcement&& other) noexcept
        : sessions_(std::exchange(other.sessions_, nullptr)), id_(std::move(other.id_)) {}
    Announcement& operator=(Announcement&& other) noexcept {
      std::swap(sessions_, other.sessions_);
      std::swap(id_, other.id_);
      return *this;
    }
    ~Announcement();

   private:
    LiveSessions* sessions_ = nullptr;
    SessionId id_;
  };

 private:
  static constexpr std::size_t kForgetAt = 64;
  void forget_gone();

  std::mutex mutex_;
  std::map<SessionId, std::weak_ptr<SessionActor>> sessions_;
  std::set<SessionId> announced_;
  std::condition_variable arrived_;    ///< `announced_` has become smaller
  std::size_t forget_at_ = kForgetAt;  ///< number of entries at which those of destroyed sessions are removed
};

/// The initial data of a new session.
struct Birth {
  SessionId id = {};                     ///< empty: a new id
  Json metadata = nullptr;               ///< null: the agent's metadata
  std::vector<MessagePtr> history = {};  ///< the conversation to start from
  TraceContext caller = {};              ///< of a root: the span for which it works; none: it starts a trace
};

/// A birth with the caller's messages and id. Error `kInput`: see `Runtime::create_session`.
Result<Birth> birth_of(Services& services, Conversation start);
/// Creates a session. With a history, its first records are durable when this returns; otherwise the first
/// input makes them durable.
Result<std::shared_ptr<SessionActor>> create_session(const std::shared_ptr<Services>& services,
                                                     const std::shared_ptr<const AgentDescription>& agent,
                                                     Birth birth, Origin origin);
/// Which sessions are opened.
enum class Opening : std::uint8_t {
  kAny,
  kByForce,    ///< also one that another process holds
  kUnfinished  ///< only one that has a turn or queued messages
};
/// Opens a session from the journal; see `Runtime::open_session` and `open_unfinished`.
Result<std::shared_ptr<SessionActor>> open_session(const std::shared_ptr<Services>& services,
                                                   const SessionId& session,
                                                   const std::shared_ptr<const AgentDescription>& agent,
                                                   Opening opening, Origin origin);

/// Carries out a request: on the target's actor when it is active in this process, else with `deliver`.
/// Errors: `kInput` (unknown session, refused, or not sendable), `kJournal` (`detail.kind` is `queued` when
/// the owner has not answered yet).
Status carry_out(const std::shared_ptr<Services>& services, InboxRequest request);

}  // namespace praxis
