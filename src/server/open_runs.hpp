// The runs that are open in this process. A run is closed only while no request uses it, so that no turn
// begins in a run that is just being closed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "praxis/base/executor.hpp"
#include "praxis/runtime/session.hpp"

namespace praxis::server {

/// Thread-safe; never holds its lock while it asks a session. Owned by a `shared_ptr`.
class OpenRuns : public std::enable_shared_from_this<OpenRuns> {
  struct Entry;

 public:
  /// A session that is not closed before this is dropped. Move-only; may outlive the `OpenRuns`.
  class Use {
   public:
    Session* operator->() { return &session_; }
    Session& operator*() { return session_; }

   private:
    friend OpenRuns;
    Use(Session session, std::unique_ptr<void, std::function<void(void*)>> hold)
        : session_(std::move(session)), hold_(std::move(hold)) {}

    Session session_;
    std::unique_ptr<void, std::function<void(void*)>> hold_;
  };

  explicit OpenRuns(std::shared_ptr<Executor> executor) : executor_(std::move(executor)) {}

  /// Adds a run, in place of one with the same id.
  Use keep(const SessionId& run, const Session& session);
  /// A run for a request that may begin a turn in it; nothing if it is not open.
  std::optional<Use> use(const SessionId& run);
  /// The same for a request that begins none.
  std::optional<Session> find(const SessionId& run) const;
  std::vector<std::pair<SessionId, Session>> all() const;
  /// Drops a run that neither works nor waits for people, at once or after the last use of it. Waits for the
  /// session, so call it on workers.
  void close_if_idle(const SessionId& run);
  /// Drops a run.
  void forget(const SessionId& run);

 private:
  struct Entry {
    Session session;
    std::uint64_t uses = 0;    ///< so far
    std::uint64_t in_use = 0;  ///< at present
    bool may_be_idle = false;  ///< to be looked at after the last use
  };

  /// The caller holds the lock.
  Use used(const SessionId& run, const std::shared_ptr<Entry>& entry);
  void end_use(const SessionId& run, Entry& entry);

  const std::shared_ptr<Executor> executor_;
  mutable std::mutex mutex_;  // guards the next member and the entries
  std::map<SessionId, std::shared_ptr<Entry>> open_;
};

}  // namespace praxis::server
