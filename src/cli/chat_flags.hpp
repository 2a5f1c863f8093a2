// The flags of `chat` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kChatHelp = "Talk with an agent in the terminal: it writes, works and asks";
inline constexpr const char* kChatExamples =
    "  praxis chat --model openai:gpt-5-mini\n"
    "  praxis chat reviewer\n"
    "  praxis chat --resume last\n"
    "  praxis chat coder --server URL\n"
    "  praxis chat --plain";

inline void add_chat_flags(CLI::App* chat, ChatOptions& options) {
  chat->add_option("AGENT", options.agent,
                   "Agent file (NAME.toml), or name of an agent, as praxis agents lists them; default: an "
                   "agent without tools")
      ->type_name("");
  chat->add_option("--agent", options.member, "Member of a team that answers from now on")->type_name("NAME");
  chat->add_option("--resume", options.resume, "Open this run: its id, its name, or 'last'")->type_name("ID");
  chat->add_option("--model", options.model,
                   "Model as PROVIDER:NAME, instead of the agent's, the run's or the configured one")
      ->type_name("MODEL");
  chat->add_flag("--plain", options.plain,
                 "Write lines only and draw nothing: for screen readers and for pipes");
  chat->add_option("--theme", options.theme,
                   "Colours: auto (asks the terminal), light, dark, or ansi for its own 16 colours")
      ->type_name("THEME")
      ->check(CLI::IsMember({"auto", "light", "dark", "ansi"}).description(""));
  add_home(chat, options.allow_home);
  add_server(chat, options.server);
  add_place(chat, options.place);
}

}  // namespace praxis::cli
