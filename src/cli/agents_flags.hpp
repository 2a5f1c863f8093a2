// The arguments of `agents` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kAgentsHelp =
    "List the agents that can be used by name, show one, copy a preset";
inline constexpr const char* kAgentsExamples =
    "  praxis agents\n"
    "  praxis agents show coder\n"
    "  praxis agents init coder -o .praxis/agents/coder.toml";

inline void add_agents_flags(CLI::App* agents, AgentsOptions& options) {
  using Verb = AgentsOptions::Verb;
  const std::map<std::string, Verb> verbs{
      {"list", Verb::kList}, {"show", Verb::kShow}, {"init", Verb::kInit}};
  takes_word(
      agents
          ->add_option("VERB", options.verb, "list (default), show, or init, which writes a preset to a file")
          ->type_name(""),
      verbs);
  agents->add_option("NAME", options.name, "The agent to show, or the preset to copy")->type_name("");
  takes_path(agents->add_option("-o,--output", options.file, "With init: the file; default: NAME.toml"),
             "FILE");
  add_json(agents, options.json, "agent");
  add_place(agents, options.place);
}

}  // namespace praxis::cli
