// How much more may be asked of an endpoint, as it says itself: learnt from the headers of its answers and
// heeded before the next request.
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

/// What an endpoint counts.
enum class Resource : std::uint8_t { kRequests, kTokens };

/// What is left of a resource until it is filled up again.
struct Allowance {
  std::int64_t remaining = 0;
  std::int64_t limit = 0;  ///< 0 when unsaid
  std::chrono::milliseconds reset{0};
};

/// What `headers` say, the tightest where several windows are named. Resources whose reset is not said, or
/// lies further off than a minute, are left out: nobody waits for those. Knows the headers of OpenAI and its
/// like (resets as durations), Anthropic (RFC 3339) and OpenRouter (epoch milliseconds); points in time are
/// read against the response's own `date`.
std::map<Resource, Allowance> read_allowances(const HttpHeaders& headers);

/// Lets requests pass while the endpoint has something left for them and holds the rest until it has.
/// Thread-safe.
class RateGate : public std::enable_shared_from_this<RateGate> {
 public:
  explicit RateGate(std::shared_ptr<Executor> executor) : executor_(std::move(executor)) {}

  /// Calls `go` now or once a request of `tokens` may be sent, on any thread; with `false` when `stop` was
  /// asked for first. Requests that wait pass in their order.
  void pass(std::int64_t tokens, std::stop_token stop, std::move_only_function<void(bool)> go);
  /// Takes note of what a response said, and of a refusal that asks to wait `retry_after`.
  void learn(const HttpHeaders& headers, std::optional<std::chrono::milliseconds> retry_after);

 private:
  struct Window {
    std::int64_t remaining = 0;
    std::int64_t limit = 0;
    Executor::TimerId timer = 0;
  };
  struct Waiter {
    std::int64_t tokens = 0;
    std::move_only_function<void(bool)> go;
    std::optional<std::stop_callback<std::function<void()>>> stopped;
  };
  using Waiters = std::list<std::shared_ptr<Waiter>>;

  bool admit(std::int64_t tokens);
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
