// The arguments of `acp` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kAcpHelp = "Be the agent of an editor that speaks the Agent Client Protocol";
inline constexpr const char* kAcpExamples =
    "  praxis acp coder\n"
    "  praxis acp --model openai:gpt-5-mini";

inline void add_acp_flags(CLI::App* acp, AcpOptions& options) {
  acp->add_option("AGENT", options.agent,
                  "Agent of new conversations: a file (NAME.toml) or a name; the editor can choose another "
                  "one. Default: an agent without tools")
      ->type_name("");
  acp->add_option("--model", options.model,
                  "Model of new conversations as PROVIDER:NAME, instead of the agent's")
      ->type_name("MODEL");
  add_home(acp, options.allow_home);
  add_place(acp, options.place);
}

}  // namespace praxis::cli
