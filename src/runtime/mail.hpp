// Orders that come as mail, from those who do not own a session to the runtime that does.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "praxis/runtime/orders.hpp"

namespace praxis {

struct Services;

/// The order that a message is. Error `kInput`: it is none.
Result<Order> order_of(const Mail& mail);

/// Looks for mail while sessions of the runtime are awake, and hands it to them. Thread-safe.
class MailWatcher : public std::enable_shared_from_this<MailWatcher> {
 public:
  explicit MailWatcher(std::weak_ptr<Services> services) : services_(std::move(services)) {}

  /// A session is awake.
  void watch();
  /// A session from the journal is awake: mail may have waited for it.
  void watch(const SessionId& opened);

 private:
  void look_soon(std::chrono::milliseconds delay);
  void look();
  /// Sessions that mail has come for.
  std::vector<SessionId> addressees(Journal& journal);

  const std::weak_ptr<Services> services_;
  std::atomic<bool> watching_ = false;
  std::mutex mutex_;
  std::vector<SessionId> opened_;
  MailId seen_ = 0;  ///< the last message that was looked at; of the one thread that looks
};

}  // namespace praxis
