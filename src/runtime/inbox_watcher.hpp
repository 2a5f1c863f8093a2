// Requests that other processes post to the inboxes of sessions that this runtime owns.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "praxis/runtime/commands.hpp"

namespace praxis {

struct Services;

/// The request in a message. Error `kInput`: its body is not a request.
Result<InboxRequest> request_of(const InboxMessage& message);
/// Error `kInput` when callers from outside cannot send the request (as `post_request`).
Status check_sendable(const InboxRequest& request);

/// Polls the inboxes while sessions of the runtime are active, and has them collect their messages.
/// Thread-safe.
class InboxWatcher : public std::enable_shared_from_this<InboxWatcher> {
 public:
  explicit InboxWatcher(std::weak_ptr<Services> services) : services_(std::move(services)) {}

  /// A session is active.
  void watch();
  /// A session from the journal is active: its inbox may hold messages already.
  void watch(const SessionId& opened);

 private:
  void look_soon(std::chrono::milliseconds delay);
  void look();
  /// Sessions with new messages.
  std::vector<SessionId> addressees(Journal& journal);

  const std::weak_ptr<Services> services_;
  std::atomic<bool> watching_ = false;
  std::mutex mutex_;
  std::vector<SessionId> opened_;
  InboxId seen_ = 0;  ///< the last message that was seen; used by the one polling thread
};

}  // namespace praxis
