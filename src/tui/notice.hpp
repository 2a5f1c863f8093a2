// Calls the user of a chat who looks at another window.
#pragma once

#include <string>
#include <string_view>

namespace praxis::tui {

/// How it calls, as configured.
struct NoticeSettings {
  std::string way = "off";   ///< `bell`, `osc9`, `osc777` or `off`
  std::string command = {};  ///< run by the shell, with the text as `$1`; empty: none
};

/// The bytes that make a terminal call, with a text of the chat's own; empty for `off`.
std::string notice_bytes(std::string_view way, std::string_view text);
/// Runs the command and waits for its end, at most 10 seconds; then it is killed. Its output is dropped.
void run_notice_command(const std::string& command, const std::string& text);

}  // namespace praxis::tui
