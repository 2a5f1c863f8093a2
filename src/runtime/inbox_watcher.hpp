// Reads the requests that other processes post to the inboxes of this runtime's sessions.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "praxis/runtime/commands.hpp"

namespace praxis {

struct Services;

/// Parses the request in a message. Error `kInput` when the body is not a request.
Result<InboxRequest> request_of(const InboxMessage& message);
/// Error `kInput` when callers outside the runtime cannot send the request (see `post_request`).
Status check_sendable(const InboxRequest& request);

/// Polls the inboxes while sessions of the runtime are active, and has each session collect its messages.
/// Thread-safe.
class InboxWatcher : public std::enable_shared_from_this<InboxWatcher> {
 public:
  explicit InboxWatcher(std::weak_ptr<Services> services) : services_(std::move(services)) {}

  /// Starts polling, because a session became active.
  void watch();
  /// Starts polling, because a session from the journal became active. Its inbox may already hold messages.
  void watch(const SessionId& opened);

 private:
  void look_soon(std::chrono::milliseconds delay);
  void look();
  /// Returns the sessions that have new messages.
  std::vector<SessionId> addressees(Journal& journal);

  const std::weak_ptr<Services> services_;
  std::atomic<bool> watching_ = false;
  std::mutex mutex_;
  std::vector<SessionId> opened_;
  InboxId seen_ = 0;  ///< the last message read; used by the polling thread only
};

}  // namespace praxis
