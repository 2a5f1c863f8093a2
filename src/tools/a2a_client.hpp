// The requests of a client of the Agent2Agent protocol 1.0, over JSON-RPC or HTTP+JSON, as the card of the
// agent says.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "praxis/tools/a2a_tools.hpp"
#include "tools/a2a_protocol.hpp"

namespace praxis::a2a {

/// How long a request may take, and for which span.
struct Patience {
  std::stop_token stop;
  std::chrono::steady_clock::time_point deadline;
  TraceContext trace = {};
};

/// A message to the agent.
struct Outgoing {
  std::string text;
  std::string task;     ///< to this task; empty: begins one
  std::string context;  ///< in this conversation; empty: a new one
  std::string id;       ///< of the message; the same when it is sent again
};

/// What the agent answered: a task, or a message, which ends the exchange.
struct Answer {
  std::optional<Task> task;
  std::string text;
};

/// Thread-safe. Errors of all requests state their `Reach`.
class Client {
 public:
  explicit Client(A2aAgent agent) : agent_(std::move(agent)) {}

  /// Sends a message and does not wait for the end of the task. Errors: `kSent` when the agent may work on
  /// it.
  Result<Answer> send(const Outgoing& message, const Patience& patience);
  /// The present state of a task.
  Result<Task> task(const std::string& id, const Patience& patience);
  /// Whether the agent can report changes by itself.
  Result<bool> streams(const Patience& patience);
  /// Returns when the state of the task has changed from the one with this mark into one in which it does not
  /// work (true), or when the agent reports no further changes. `on_said` gets messages about progress, on
  /// the calling thread.
  bool await_change(const std::string& id, const std::string& mark, const Patience& patience,
                    const std::function<void(const std::string& said)>& on_said);
  /// Asks the agent to cancel a task. Waits a second at most, and not for the task to end.
  void cancel(const std::string& id);

  const A2aAgent& agent() const { return agent_; }

 private:
  /// An operation in both bindings.
  struct Operation {
    std::string_view method;       ///< of JSON-RPC
    std::string_view http_method;  ///< of HTTP+JSON, as the next
    std::string path;
    JsonObject params;
  };
  static Operation about_task(std::string_view method, std::string_view http_method, std::string_view ending,
                              const std::string& id);

  Result<Interface> connect(const Patience& patience);
  Result<Interface> fetch_card(const Patience& patience) const;
  HttpRequest base_request(const Patience& patience) const;
  HttpRequest request_of(const Interface& interface, Operation operation, const Patience& patience);
  Result<Json> ask(const Operation& operation, const Patience& patience);
  Result<Json> result_of(const HttpResponse& response, bool is_rpc) const;

  const A2aAgent agent_;
  std::atomic<std::int64_t> last_id_ = 0;
  std::mutex mutex_;
  std::optional<Interface> interface_;  ///< once the card was read
};

}  // namespace praxis::a2a
