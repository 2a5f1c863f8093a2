// What the handler of a running call may do in the agent tree.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "praxis/runtime/agent.hpp"
#include "praxis/tools/sub_agent.hpp"
#include "runtime/scope.hpp"
#include "tools/message_scope.hpp"

namespace praxis {

class LiveChild;
class SessionActor;

/// The fault of a process that has no memory left.
Error out_of_memory();

/// The scope of one attempt at a call. `close` ends it.
class LiveCall final : public CallScope, public MessageScope, public std::enable_shared_from_this<LiveCall> {
 public:
  LiveCall(std::shared_ptr<SessionActor> actor, CallId call, std::stop_token stop, Scope::Deadline deadline);
  /// From now on a stop request also reaches the sub-agents and the calls within this call.
  void watch();

  Result<std::shared_ptr<ChildSession>> spawn(AgentSpec spec, std::vector<Tool> tools) override;
  Result<std::shared_ptr<ChildSession>> clone(const std::string& purpose) override;
  Result<SessionId> detach(AgentSpec spec, std::vector<Tool> tools, std::string prompt) override;
  Result<ToolOutput> call(std::string tool, std::string arguments) override;
  const std::vector<Tool>& tools() const override;
  void call_all(std::vector<InnerCall> calls, InnerCallDone done) override;
  void progress(std::string text, std::optional<double> fraction) override;
  Status read_memory(std::string_view store,
                     const std::function<void(const MemoryStore&)>& read) const override;

  Result<std::string> send_message(const std::string& agent, const std::string& text,
                                   const MessageBounds& bounds) override;

  /// As above, with everything that an `Agent` describes, hooks and model included. `identity` distinguishes
  /// the sub-agent from others of the same call.
  Result<std::shared_ptr<LiveChild>> spawn(std::shared_ptr<const AgentDescription> agent,
                                           const std::string& identity, std::vector<MessagePtr> history = {});

  /// As `spawn(spec, tools)`.
  Result<std::shared_ptr<LiveChild>> spawn_own(AgentSpec spec, std::vector<Tool> tools);

  /// The handler of the call is a `ContinuingHandler`, so the call may continue after it has returned.
  void let_continue() { may_continue_ = true; }
  bool continue_after(const std::vector<SubAgent>& agents) override;
  using Reports = std::vector<Result<AgentResult>>;
  /// If the handler has returned before its sub-agents have ended, calls `done` with their reports when they
  /// have, on any thread. Returns false when the call ends with the handler.
  bool continue_with(std::move_only_function<void(Reports)> done);

  /// The handler has returned. Interrupts the running sub-agents, waits for them, and refuses further
  /// requests.
  void close();

 private:
  void interrupt_all();
  Status check_open() const;
  Status check_running() const;
  /// Returns a digest of `text` with the number of its occurrence in this call, which distinguishes equal
  /// requests.
  std::string key_of(const std::string& text);
  std::shared_ptr<const AgentDescription> described(AgentSpec spec, std::vector<Tool> tools) const;
  /// Returns `error` for the handler. Ends the session first when the journal is to blame, or the process has
  /// run out of something: whatever the handler makes of the error then never becomes the result of the call.
  std::unexpected<Error> failed(Error error) const;
  /// Does `work` for the handler. Memory that is missing in it is missing for us, not for the handler.
  template <class F>
  auto guarded(F work) const -> decltype(work()) {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      return failed(out_of_memory());
    }
  }
  Result<std::shared_ptr<LiveChild>> make_child(std::shared_ptr<const AgentDescription> agent,
                                                const std::string& identity, std::vector<MessagePtr> history);

  const std::shared_ptr<SessionActor> actor_;
  const CallId call_;
  const std::stop_token stop_;
  const Scope::Deadline deadline_;
  const std::shared_ptr<const ToolSet> tools_;  ///< of the agent when the call began
  mutable std::mutex mutex_;
  bool closed_ = false;
  std::map<std::string, std::uint32_t> occurrences_;
  std::vector<std::shared_ptr<LiveChild>> children_;
  bool may_continue_ = false;  ///< set before the handler runs
  std::optional<std::vector<SubAgent>> awaited_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

}  // namespace praxis
