// What the handles of the C interface name.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "capi/handles.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::capi {

/// The functions of the caller that a runtime may call. Thread-safe.
class Functions {
 public:
  void added() { change(1, 0); }
  void released() { change(-1, 0); }
  void begin() { change(0, 1); }
  void end() { change(0, -1); }
  /// Waits until none is running and, at most `limit`, until all are released.
  void wait(std::chrono::milliseconds limit);

 private:
  void change(int existing, int running) {
    const std::lock_guard lock(mutex_);
    existing_ += existing;
    running_ += running;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int existing_ = 0;
  int running_ = 0;
};

struct RuntimeObject : Object {
  static constexpr Kind kKind = Kind::kRuntime;
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<Journal> journal;
  AgentFileOptions agents;  ///< with which descriptions of agents are read
  Author person;            ///< who decides and commands
  std::shared_ptr<Functions> functions = std::make_shared<Functions>();
  std::uint64_t handle = 0;  ///< owns the handles of what is made from it
};

struct AgentObject : Object {
  static constexpr Kind kKind = Kind::kAgent;
  AgentObject(Agent made, std::shared_ptr<RuntimeObject> in)
      : runtime(std::move(in)), agent(std::move(made)) {}
  /// The agent as it is now.
  Agent get() const {
    const std::lock_guard lock(mutex);
    return agent;
  }

  const std::shared_ptr<RuntimeObject> runtime;
  mutable std::mutex mutex;
  Agent agent;  ///< guarded by `mutex`
};

struct SessionObject : Object {
  static constexpr Kind kKind = Kind::kSession;
  SessionObject(Session opened, std::shared_ptr<RuntimeObject> in)
      : runtime(std::move(in)), session(std::move(opened)) {}

  const std::shared_ptr<RuntimeObject> runtime;
  Session session;
};

struct RunObject : Object {
  static constexpr Kind kKind = Kind::kRun;
  RunObject(Run begun, std::shared_ptr<SessionObject> of) : session(std::move(of)), run(std::move(begun)) {}

  const std::shared_ptr<SessionObject> session;
  Run run;
};

/// A tool call in progress.
struct CallObject : Object {
  static constexpr Kind kKind = Kind::kCall;
  explicit CallObject(ToolContext& in) : context(&in), stop(in.stop) {}

  std::mutex mutex;
  ToolContext* context;                      ///< guarded by `mutex`; null once the call has ended
  std::optional<Result<ToolOutput>> result;  ///< likewise
  const std::stop_token stop;
};

/// The session of a handle of a session or run. Error: `is_bad_handle`.
Result<std::shared_ptr<SessionObject>> session_of(std::uint64_t handle);

/// Error `kInput` if the calling thread is inside a tool of this runtime.
Status check_outside(const RuntimeObject& runtime, const char* what);
/// Error `kInput` if the calling thread is inside a tool of this session or of one below it.
Status check_not_waiting_for_itself(const RuntimeObject& runtime, const SessionId& session);

}  // namespace praxis::capi
