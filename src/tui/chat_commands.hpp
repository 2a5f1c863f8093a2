// The `/commands` of a chat by name, for its help and for completion.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tui/choice_list.hpp"

namespace praxis::tui {

struct ChatCommand {
  std::string_view name;
  std::string_view takes;  ///< such as `[ID]`; empty: nothing
  std::string_view about;
};
/// All commands, in the order of the help.
std::span<const ChatCommand> chat_commands();
/// The same as choices, whose values are the names.
std::vector<Choice> command_choices();
/// What `/help` prints.
std::string chat_help();

}  // namespace praxis::tui
