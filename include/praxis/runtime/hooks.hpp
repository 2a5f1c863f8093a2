// Where a host can step into the loop. Hooks run on worker threads, or where they say, and may block; what
// they change is recorded, so a replay does not need them. A hook that throws is reported as `hook.failed`
// and otherwise ignored, except `approve`, whose failure denies the call.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "praxis/core/state.hpp"
#include "praxis/policy/policy.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis {

using ToolCall = ToolCallPart;

/// What a hook is told of where it is.
struct HookContext {
  SessionId session;
  std::string agent;
  TurnId turn;
  std::uint32_t step = 0;
};

/// What `before_model` may do: change instructions or options of this request, or answer in the model's
/// place.
struct ModelHookResult {
  RequestPatch patch;
  std::optional<ModelResponse> skip;
};
/// What `before_tool` may do: change the arguments, or give a result in the tool's place (skip, mock).
struct ToolHookResult {
  std::optional<std::string> arguments;  ///< JSON text
  std::optional<ToolOutput> result;
};

/// All hooks of an agent; several of a kind run in order of registration, each seeing what the last one
/// changed.
struct Hooks {
  /// Sees what a user says, steers or queues before it is stored, on the thread that hands it in, and may
  /// change it.
  std::vector<std::function<void(const HookContext&, Message&)>> outgoing_message;
  /// May change the description (but for model, tools and plan) from this turn on. Runs on the thread that
  /// starts the turn, a worker for a queued one; the context names no turn yet.
  std::vector<std::function<void(const HookContext&, AgentSpec&)>> before_turn;
  /// May change what callers get, not what is recorded.
  std::vector<std::function<void(const HookContext&, AgentResult&)>> after_turn;
  std::vector<std::function<ModelHookResult(const HookContext&, const History&)>> before_model;
  std::vector<std::function<void(const HookContext&, const ModelResponse&)>> after_model;
  std::vector<std::function<ToolHookResult(const HookContext&, const ToolCall&)>> before_tool;
  std::vector<std::function<Permission(const ToolCall&)>> approve;
  /// May change the output.
  std::vector<std::function<void(const HookContext&, const ToolCall&, ToolOutput&)>> after_tool;
  /// A reason pauses the session at this boundary until it is resumed.
  std::vector<std::function<std::optional<std::string>(const HookContext&)>> pause_check;
};

}  // namespace praxis
