// A caller's command for a session, from outside its loop. Plain values; `praxis/runtime/commands.hpp`
// carries them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/base/ids.hpp"
#include "praxis/domain/approval.hpp"
#include "praxis/domain/author.hpp"

#pragma GCC visibility push(default)
namespace praxis {

enum class CommandVerb : std::uint8_t {
  kSteer,      ///< `text` reaches the model at the next safe boundary
  kEnqueue,    ///< `text` becomes the user message of the next turn
  kInterrupt,  ///< stop now
  kDeadline,   ///< the turn's time limit has passed
  kPause,
  kUnpause,   ///< the opposite of `kPause`
  kAnnotate,  ///< `text` is a comment
  kSetAgent,  ///< replaces the description of the agent from here on
  kRewind,    ///< takes the conversation back to where the turn named by `text` began
  kDelete,    ///< stop now and for good: no further turn begins
  kModify,    ///< a new task: `text` reaches the model like steering
  kBudget,    ///< a budget of the agent tree is exhausted; `text` is the name of the `StopReason`
  kWithdraw,  ///< takes back the waiting message that `text` names by its id
  kMove,      ///< puts a waiting message before another of its kind: `text` is `ID before ID`
  kCompact,   ///< older messages are summarised before the next model call
};
std::string_view to_string(CommandVerb verb);
std::optional<CommandVerb> command_verb_from(std::string_view name);

/// One command. The runtime records `kDeadline`, `kSetAgent`, `kRewind` and `kBudget` itself; callers send
/// the others.
struct Command {
  CommandVerb verb = CommandVerb::kAnnotate;
  SessionId target = {};
  std::string text = {};
  Author author = by_library();
  std::string original = {};  ///< the caller's text, if a hook changed it; set by the runtime
};
/// A message that the model has not got.
struct WaitingMessage {
  std::uint64_t id = 0;                      ///< the number of the record that brought it
  CommandVerb verb = CommandVerb::kEnqueue;  ///< or `kSteer`, or `kModify`, which cannot be taken back
  std::string text = {};
  bool operator==(const WaitingMessage&) const = default;
};
/// Commands for one session, carried out together or not at all.
using Commands = std::vector<Command>;
inline constexpr std::size_t kMaxCommands = 8;  ///< of one request

/// The request in one message of a session's inbox.
using InboxRequest = std::variant<Commands, StepApproval>;
/// The session that a request is for; empty for a request of no commands.
inline const SessionId& target_of(const InboxRequest& request) {
  static const SessionId kNone;
  if (const auto* step = std::get_if<StepApproval>(&request)) return step->target;
  const auto& commands = std::get<Commands>(request);
  return commands.empty() ? kNone : commands.front().target;
}

}  // namespace praxis
#pragma GCC visibility pop
