// Hooks let a host intervene in the loop. They run on worker threads unless stated otherwise, and may block.
// The session waits for each of them. Their changes are recorded with the original and the author `hook`, so
// a replay does not need them; those of `after_turn` are not recorded. A hook can narrow what the agent may
// do and never widen it. A hook that throws is reported as `hook.failed` and otherwise ignored, except
// `approve`: its failure denies the call.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "praxis/core/records.hpp"
#include "praxis/policy/policy.hpp"
#include "praxis/tools/tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

using ToolCall = ToolCallPart;

/// Identifies the place at which a hook is called.
struct HookContext {
  SessionId session;
  std::string agent;
  TurnId turn;
  std::uint32_t step = 0;
};

/// Result of `before_model`: changes for this request, or an answer that replaces the model call. `tools` of
/// the patch can only be some of those that are offered, `model` only one of the agent's route, by
/// `Model::name`. A change that is refused is reported as `hook.failed`.
struct ModelHookResult {
  RequestPatch patch;
  /// Replace the conversation in this request, in place of `patch.history`. Refused unless they are a valid
  /// conversation (`normalise` repairs nothing) that does not end with an answer of the model.
  std::optional<std::vector<Message>> messages = {};
  std::optional<ModelResponse> skip;
};
/// Result of `before_tool`: changed arguments, or a result that replaces the tool call (skip, mock).
struct ToolHookResult {
  std::optional<std::string> arguments;  ///< JSON text
  std::optional<ToolOutput> result;
};

/// All hooks of an agent. Several hooks of one kind run in order of registration; each sees the changes of
/// the previous one.
struct Hooks {
  /// Sees a user message before it is stored (sent, steered or queued) and may change it. Runs on the
  /// caller's thread.
  std::vector<std::function<void(const HookContext&, Message&)>> outgoing_message;
  /// May change the description from this turn on. Rules and limits can only become narrower; model, tools,
  /// plan and the treatment of calls in doubt stay (a change of these is reported as `hook.failed`). Runs on
  /// the thread that starts the turn, or on a worker for a queued turn. The context has no turn id yet.
  std::vector<std::function<void(const HookContext&, AgentSpec&)>> before_turn;
  /// Called once for every turn that ended in this process, also a queued one, before its last event is
  /// published and the next turn starts. May change the result for callers and observers, but not what is
  /// recorded.
  std::vector<std::function<void(const HookContext&, AgentResult&)>> after_turn;
  std::vector<std::function<ModelHookResult(const HookContext&, const History&)>> before_model;
  /// Sees each answer before its calls are judged, also one that a `before_model` hook gave.
  std::vector<std::function<void(const HookContext&, const ModelResponse&)>> after_model;
  std::vector<std::function<ToolHookResult(const HookContext&, const ToolCall&)>> before_tool;
  std::vector<std::function<Permission(const ToolCall&)>> approve;
  /// May change the output or the error of a call whose handler returned, or the result that a `before_tool`
  /// hook gave.
  std::vector<std::function<void(const HookContext&, const ToolCall&, Result<ToolOutput>&)>> after_tool;
  /// Returns a reason to pause the session at this boundary until it is unpaused.
  std::vector<std::function<std::optional<std::string>(const HookContext&)>> pause_check;
};

/// Adds the hooks of `more` after those of `hooks`.
void add(Hooks& hooks, Hooks more);

}  // namespace praxis
#pragma GCC visibility pop
