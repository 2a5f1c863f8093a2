// Messages that one agent of a tree sends to another: the form in which they stand in the conversation of the
// one that gets them. The first line names the sender, so a reader can tell them from the words of a person.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace praxis {

/// The name of the tool that sends them.
inline constexpr std::string_view kSendMessage = "send_message";

/// `[message from agent PATH, hop N]`, then the text. `hop`: how many such messages led to this one, itself
/// included.
std::string agent_message(std::string_view path, std::uint32_t hop, std::string_view text);
/// The hop of a message of this form; 0 for any other text.
std::uint32_t hop_of_message(std::string_view text);
/// The path of the sender; empty for any other text.
std::string_view sender_of_message(std::string_view text);

}  // namespace praxis
