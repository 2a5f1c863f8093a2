// The arguments of `mcp` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kMcpHelp = "Try the MCP servers of an agent, or offer agents as an MCP server";
inline constexpr const char* kMcpExamples =
    "  praxis mcp list reviewer\n"
    "  praxis mcp test reviewer.toml\n"
    "  praxis mcp call reviewer files__read_file '{\"path\": \"notes.txt\"}'\n"
    "  praxis mcp prompts reviewer tracker:triage 42\n"
    "  praxis mcp login reviewer tracker --open\n"
    "  praxis mcp add files -- python3 server.py docs\n"
    "  praxis mcp serve reviewer translator";

inline void add_mcp_flags(CLI::App* mcp, McpCommandOptions& options) {
  using Verb = McpCommandOptions::Verb;
  const std::map<std::string, Verb> verbs{{"list", Verb::kList},       {"test", Verb::kTest},
                                          {"call", Verb::kCall},       {"accept", Verb::kAccept},
                                          {"prompts", Verb::kPrompts}, {"login", Verb::kLogin},
                                          {"logout", Verb::kLogout},   {"serve", Verb::kServe},
                                          {"add", Verb::kAdd},         {"remove", Verb::kRemove}};
  takes_word(
      mcp->add_option(
             "VERB", options.verb,
             "list the tools of the agent's servers; test whether the servers start and answer; call one "
             "tool; "
             "list the prompts of the servers, or show one; "
             "accept what a server says of its tools now; "
             "log in at the servers that want it, or forget the logins; add a server to .mcp.json, or remove "
             "one; "
             "serve agents as tools on standard input and output")
          ->type_name("")
          ->required(),
      verbs);
  mcp->add_option(
         "WORDS", options.words,
         "The agent; for call also the tool, as list shows it, and its arguments as JSON; for accept the "
         "tools, all that changed if absent; for prompts one prompt and its arguments; for login and logout "
         "one server, all if absent; for add a name "
         "and the address or, after --, the program with its arguments; for remove the name; for serve the "
         "agents, all agents if absent")
      ->type_name("");
  mcp->add_option("--model", options.model, "Model of served agents without a model, as PROVIDER:NAME")
      ->type_name("MODEL");
  mcp->add_flag("--open", options.open, "For login: open the address in the browser");
  add_home(mcp, options.allow_home);
  add_json(mcp, options.json, "server or tool");
  add_place(mcp, options.place);
}

}  // namespace praxis::cli
