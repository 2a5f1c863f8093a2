// Sends notifications to one address: one at a time, in order, again after a failure, and without a thread.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "app/push_file.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/net/http_client.hpp"
#include "server/push_rules.hpp"
#include "tools/host_rules.hpp"

namespace praxis::server {

/// Thread-safe. Owned by a `shared_ptr`.
class PushQueue : public std::enable_shared_from_this<PushQueue> {
 public:
  /// What all queues of a server share.
  struct Means {
    std::shared_ptr<Executor> executor;
    std::shared_ptr<HttpClient> http;
    PushRules rules;
    HostRules hosts;
  };
  /// Why a queue ended by itself.
  enum class End : bool { kDelivered, kGivenUp };
  /// `ended` is called once, on the I/O thread, unless `stop` comes before; it must return soon.
  PushQueue(std::shared_ptr<const Means> means, const app::PushAddress& address,
            std::move_only_function<void(End)> ended);

  /// Adds bodies. If too many would wait then, `whole` replaces all of them that are not on their way. With
  /// `is_last`, the queue ends once they are delivered; what is added later is ignored.
  void add(std::vector<std::string> bodies, const std::function<std::string()>& whole, bool is_last);
  /// Sends nothing more; breaks off what is on its way.
  void stop();

 private:
  class Receipt;

  void send_next();
  void on_status(int status);
  void pause();
  void end(End how);

  const std::shared_ptr<const Means> means_;
  const std::string url_;
  const HttpHeaders headers_;
  std::stop_source stop_;

  std::mutex mutex_;  // guards what follows
  std::move_only_function<void(End)> ended_;
  std::deque<std::shared_ptr<const std::string>> waiting_;  ///< the first one may be on its way
  bool is_sending_ = false;                                 ///< or pauses before it sends again
  bool has_last_ = false;
  bool is_over_ = false;
  std::size_t failures_ = 0;  ///< of the first one
};

}  // namespace praxis::server
