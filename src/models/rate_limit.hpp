// Client-side rate limiting: learns an endpoint's allowance from the headers of its responses and holds back
// requests that the endpoint would refuse.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "praxis/base/executor.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

/// What an endpoint limits.
enum class Resource : std::uint8_t { kRequests, kTokens };

/// The remaining allowance of a resource until its reset.
struct Allowance {
  std::int64_t remaining = 0;
  std::int64_t limit = 0;  ///< 0: unknown
  std::chrono::milliseconds reset{0};
};

/// The allowances in `headers`; if several windows apply to a resource, the tightest. Ignores resources whose
/// reset is missing or more than a minute away, because requests do not wait that long. Supports the headers
/// of OpenAI and compatible servers (resets as durations), Anthropic (RFC 3339) and OpenRouter (epoch
/// milliseconds). Points in time are relative to the response's own `date`.
std::map<Resource, Allowance> read_allowances(const HttpHeaders& headers);

/// Admits requests while the endpoint's allowance lasts and queues the rest until it is renewed. Thread-safe.
class RateGate : public std::enable_shared_from_this<RateGate> {
 public:
  explicit RateGate(std::shared_ptr<Executor> executor) : executor_(std::move(executor)) {}

  /// Calls `go(true)` when a request of `tokens` may be sent, at once or later and on any thread, or
  /// `go(false)` if `stop` is requested first. Waiting requests are admitted in order. Before a request
  /// waits, calls `held` with the time until the next reset.
  void pass(std::int64_t tokens, std::stop_token stop, std::move_only_function<void(bool)> go,
            const std::function<void(std::chrono::milliseconds)>& held = {});
  /// Updates the allowances from a response, and from a refusal that asks to wait `retry_after`.
  void learn(const HttpHeaders& headers, std::optional<std::chrono::milliseconds> retry_after);

 private:
  struct Window {
    std::int64_t remaining = 0;
    std::int64_t limit = 0;
    Executor::TimerId timer = 0;
    std::chrono::steady_clock::time_point reset = {};
  };
  struct Waiter {
    std::int64_t tokens = 0;
    std::move_only_function<void(bool)> go;
    std::optional<std::stop_callback<std::function<void()>>> stopped;
  };
  using Waiters = std::list<std::shared_ptr<Waiter>>;

  bool admit(std::int64_t tokens);
  std::chrono::milliseconds until_reset() const;
  void close(Resource resource, const Allowance& allowance);
  void open(Resource resource);
  void cancel(const std::shared_ptr<Waiter>& waiter);
  void release();

  const std::shared_ptr<Executor> executor_;
  std::mutex mutex_;
  std::map<Resource, Window> windows_;
  Waiters waiters_;
};

}  // namespace praxis
