// Sub-agents as the handler of a tool sees them. A handler may make agents below its own session; they live
// as long as its call. The runtime implements what is declared here.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/core/report.hpp"

namespace praxis {

struct Tool;
struct ToolOutput;

/// The session of a sub-agent.
class ChildSession {
 public:
  virtual ~ChildSession() = default;
  virtual const SessionId& id() const = 0;
  virtual Status start(std::string prompt) = 0;
  virtual Result<AgentResult> wait() = 0;
  virtual void steer(std::string text) = 0;
  virtual void interrupt() = 0;
};

/// A sub-agent: a value, cheap to copy, thread-safe. When the call that made it returns, a turn in progress
/// is interrupted and every further use is an error of code `kInput`.
class SubAgent {
 public:
  explicit SubAgent(Result<std::shared_ptr<ChildSession>> session) : session_(std::move(session)) {}

  /// Empty when the sub-agent could not be made; `run` and `wait` say why.
  SessionId session_id() const { return session_ ? (*session_)->id() : SessionId{}; }
  /// One turn, start to end.
  Result<AgentResult> run(std::string prompt) {
    if (auto started = start(std::move(prompt)); !started) return fail(started.error());
    return wait();
  }
  /// Begins a turn and returns. Turns of several sub-agents run side by side. Error `kInput` while one is
  /// running. When the handler runs once more after a crash, the turn that it began then is carried on, or
  /// its result given again.
  Status start(std::string prompt) {
    if (!session_) return fail(session_.error());
    return (*session_)->start(std::move(prompt));
  }
  /// Waits for the end of the turn begun last, also while it waits for a person. The result of a turn that
  /// failed or was cancelled is a result.
  Result<AgentResult> wait() {
    if (!session_) return fail(session_.error());
    return (*session_)->wait();
  }
  /// Reaches its model at the next safe boundary.
  void steer(std::string text) {
    if (session_) (*session_)->steer(std::move(text));
  }
  void interrupt() {
    if (session_) (*session_)->interrupt();
  }

 private:
  Result<std::shared_ptr<ChildSession>> session_;
};

/// What an agent that worked for another gives it: its last words and structured answer, or as an error why
/// there are none.
Result<ToolOutput> as_output(Result<AgentResult> result);

/// A call that a handler asks for.
struct InnerCall {
  std::string tool;
  std::string arguments;  ///< JSON text
};
/// Gets the result of call number `index`, counted from 0.
using InnerCallDone = std::function<void(std::size_t index, Result<ToolOutput> output)>;

/// What a call in progress may do in the agent tree. Thread-safe. Once the call is over everything is an
/// error of code `kInput`.
class CallScope {
 public:
  virtual ~CallScope() = default;
  /// Makes a sub-agent. A `spec` without model has the caller's. When the handler runs once more after a
  /// crash, the nth sub-agent with one id and instructions is the one it was then.
  virtual Result<std::shared_ptr<ChildSession>> spawn(AgentSpec spec, std::vector<Tool> tools) = 0;
  /// A sub-agent with the caller's prompts, tools and history up to the message that made this call. The
  /// caller's plan stays behind if it has a model. `purpose` tells it from other clones: the nth of one
  /// purpose is found again after a crash.
  virtual Result<std::shared_ptr<ChildSession>> clone(const std::string& purpose) = 0;
  /// A session of its own that outlives the call, with nobody above it: durable, carried on from the journal
  /// like any other, and bound by no limit but its own.
  virtual Result<SessionId> detach(AgentSpec spec, std::vector<Tool> tools, std::string prompt) = 0;
  /// Calls a tool of the agent, judged and recorded as a call of the model is, and waits for its result.
  virtual Result<ToolOutput> call(std::string tool, std::string arguments) = 0;
  /// The agent's tools.
  virtual const std::vector<Tool>& tools() const = 0;
  /// Calls several tools as one batch, so that people are asked about all of them together. `done` is called
  /// once for each, on any thread, also before this returns; return from it soon. Without a result, at the
  /// latest when the call that asks is over, it gets the error.
  virtual void call_all(std::vector<InnerCall> calls, InnerCallDone done) = 0;
};

}  // namespace praxis
