// Hooks that are programs of the user's: `[hooks.NAME]` in the configuration. They speak the form that Claude
// Code made common: JSON on standard input; exit status 2 objects, with the reason on standard error; or JSON
// on standard output decides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "praxis/app/config.hpp"
#include "praxis/base/time.hpp"

namespace praxis {
class Agent;
}

namespace praxis::app {

/// When the program runs, by the names of that form.
enum class HookEvent : std::uint8_t {
  kPreToolUse,    ///< before a tool call that the rules allow; it may deny it, ask, or change its arguments
  kPostToolUse,   ///< after a tool call; it may add to what the model reads of it
  kStop,          ///< when a turn of the agent has ended
  kSubagentStop,  ///< when a turn of a sub-agent has ended
};

struct CommandHook {
  std::string name;
  HookEvent event = HookEvent::kPreToolUse;
  std::vector<std::string> tools;    ///< the tools that it is about, as in rules; empty: all
  std::vector<std::string> command;  ///< program and arguments; runs with the rights of the user
  Millis timeout{60'000};
};

/// The hooks of the configuration, by name. Error `kInput`: one lacks its event or its command.
Result<std::vector<CommandHook>> command_hooks_of(const Config& config);

/// Adds the hooks to an agent. `PreToolUse` of a root holds for its sub-agents too. A `PreToolUse` program
/// that fails denies the call; the failure of another is reported as `hook.failed`.
void add_command_hooks(Agent& agent, const std::vector<CommandHook>& hooks, bool is_root);

}  // namespace praxis::app
