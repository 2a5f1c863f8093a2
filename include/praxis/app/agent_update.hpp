// The wire form in which programs of the fifth design (an agent tree with a human in the loop) send commands
// to an agent: comment, content and status in one object, with `delete` and `modify` as comments that are
// commands. Converts it into commands; nothing else in Praxis gives a comment a meaning.
#pragma once

#include <functional>
#include <string>

#include "praxis/runtime/runtime.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// `{"userComment": "...", "userContent": "...", "status": "..."}`; every key may be missing.
struct AgentUpdate {
  /// `unchanged`; `delete`: stop now and for good; `modify`: do `content` instead; any other text is a
  /// comment.
  std::string comment = "unchanged";
  /// A new instruction, which reaches the model at the next safe boundary. With `delete`, the comment that
  /// stays.
  std::string content = {};
  /// `pause`, `unpause` (also `resume`), `interrupt`; `running`: unpaused if it is paused; `modified`: the
  /// content is the new task; empty: unchanged. With `delete`, the last two change nothing.
  std::string status = {};
};
/// Error `kInput` names the key that is not a string.
Result<AgentUpdate> agent_update_from_json(const Json& json);
/// The commands that an update stands for; empty when everything is unchanged. Error `kInput`: the update
/// contradicts itself, or has an unknown status. `running` is the command to unpause.
Result<Commands> commands_of(const SessionId& target, const AgentUpdate& update);
/// Reads an agent as it is now.
using ReadAgentState = std::function<Result<AgentState>(const SessionId&)>;
/// The same for an agent as it is now: `running` changes nothing unless it is paused. Calls `read` only
/// if that decides, and returns its error.
Result<Commands> commands_of(const SessionId& target, const AgentUpdate& update, const ReadAgentState& read);
/// Carries out an update, all of it or nothing. Error `kInput`: as `commands_of` and `Runtime::command`.
Status update_agent(Runtime& runtime, const SessionId& target, const AgentUpdate& update);

}  // namespace praxis
#pragma GCC visibility pop
