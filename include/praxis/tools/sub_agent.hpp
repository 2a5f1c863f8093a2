// Sub-agents from the view of a tool handler. A handler can create sub-agents below its own session; they
// live as long as the call. The runtime implements these interfaces.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/core/report.hpp"

#pragma GCC visibility push(default)
namespace praxis {

struct MemoryStore;  // praxis/core/session_memory.hpp
struct Tool;
struct ToolOutput;

/// Receives the whole report of a turn, whichever way it ended.
using ReportDone = std::function<void(Result<AgentResult> report)>;

/// The session of a sub-agent.
class ChildSession {
 public:
  virtual ~ChildSession() = default;
  virtual const SessionId& id() const = 0;
  virtual Status start(std::string prompt) = 0;
  /// The whole report of the last started turn, whichever way it ended.
  virtual Result<AgentResult> wait() = 0;
  /// As `SubAgent::on_end`.
  virtual void on_end(ReportDone done) = 0;
  virtual void steer(std::string text) = 0;
  virtual void interrupt() = 0;
};

/// A sub-agent: a value, cheap to copy, thread-safe. When the call that created it returns, the runtime
/// interrupts its running turn, and every further use fails with `kInput`.
class SubAgent {
 public:
  explicit SubAgent(Result<std::shared_ptr<ChildSession>> session) : session_(std::move(session)) {}

  /// Empty if the sub-agent could not be created; `run` and `wait` return the error.
  SessionId session_id() const { return session_ ? (*session_)->id() : SessionId{}; }
  /// Runs one turn from start to end. Error as `wait`.
  Result<AgentResult> run(std::string prompt);
  /// Starts a turn and returns. Turns of several sub-agents run in parallel. Error `kInput` while one is
  /// running. When the handler runs again after a crash, `start` resumes the turn it had started before, or
  /// yields its result again.
  Status start(std::string prompt);
  /// Waits until the last started turn has ended, including any time it waits for an approver. Error: the
  /// turn could not run or did not finish (see `finished`).
  Result<AgentResult> wait() { return finished(report()); }
  /// The same with the whole report of a turn that ran, also of one that failed or was cancelled.
  Result<AgentResult> report();
  /// Calls `done` with that report once the last started turn has ended, on any thread, possibly before this
  /// returns. `done` must return quickly. For a program that waits without a thread.
  void on_end(ReportDone done);
  /// Adds `text` to the running turn; the model sees it at the next safe boundary.
  void steer(std::string text);
  void interrupt();

 private:
  Result<std::shared_ptr<ChildSession>> session_;
};

/// The tool output for a sub-agent's report: its last message and structured answer, or the error of
/// `finished` with the agent's name in front.
Result<ToolOutput> as_output(Result<AgentResult> report);

/// A tool call that a handler requests.
struct InnerCall {
  std::string tool;
  std::string arguments;  ///< JSON text
};
/// Receives the result of call `index`, counted from 0.
using InnerCallDone = std::function<void(std::size_t index, Result<ToolOutput> output)>;

/// What a running call can do in the agent tree. Thread-safe. After the call has ended, every method fails
/// with `kInput`.
class CallScope {
 public:
  virtual ~CallScope() = default;
  /// Creates a sub-agent. A `spec` without a model uses the caller's. When the handler runs again after a
  /// crash, the nth sub-agent with the same id and instructions is the one created before.
  virtual Result<std::shared_ptr<ChildSession>> spawn(AgentSpec spec, std::vector<Tool> tools) = 0;
  /// Creates a sub-agent with the caller's prompts, tools and history up to the message that made this call.
  /// If the caller has a model, the clone does not inherit the caller's plan. `purpose` distinguishes clones:
  /// after a crash, the nth clone of one purpose is found again.
  virtual Result<std::shared_ptr<ChildSession>> clone(const std::string& purpose) = 0;
  /// Creates an independent root session that outlives the call. It is durable, can be resumed like any
  /// other, and only its own limits apply.
  virtual Result<SessionId> detach(AgentSpec spec, std::vector<Tool> tools, std::string prompt) = 0;
  /// Calls a tool of the agent and waits for its result. The call is checked against the rules and recorded
  /// like a call of the model.
  virtual Result<ToolOutput> call(std::string tool, std::string arguments) = 0;
  /// The agent's tools.
  virtual const std::vector<Tool>& tools() const = 0;
  /// Calls several tools as one batch, so that one request for approval covers them all. Calls `done` once
  /// for each, on any thread, possibly before this returns; `done` must return quickly. A call without a
  /// result gets an error when the requesting call ends.
  virtual void call_all(std::vector<InnerCall> calls, InnerCallDone done) = 0;
  /// For `ContinuingHandler`: keeps `agents`, so that the call ends by the second half of its handler once
  /// they have ended. Returns false, and does nothing, when another handler has called this one: it waits
  /// itself.
  virtual bool continue_after(const std::vector<SubAgent>& agents) = 0;
  /// As `ToolContext::progress`.
  virtual void progress(std::string text, std::optional<double> fraction) = 0;
  /// Calls `read` with the entries of `store` in this session, as the calls that have settled left them (see
  /// `MemoryChange`). `read` must be quick and must not use this scope.
  virtual Status read_memory(std::string_view store,
                             const std::function<void(const MemoryStore&)>& read) const = 0;
};

}  // namespace praxis
#pragma GCC visibility pop
