// The arguments of `tokens` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kTokensHelp = "Make, list and revoke tokens of the server";
inline constexpr const char* kTokensExamples =
    "  praxis tokens add anna --role approver\n"
    "  praxis tokens add ci --right run --expires 90d\n"
    "  praxis tokens add bo --role user --tenant acme\n"
    "  praxis tokens list\n"
    "  praxis tokens revoke anna";

inline void add_tokens_flags(CLI::App* tokens, TokensOptions& options) {
  using Verb = TokensOptions::Verb;
  const std::map<std::string, Verb> verbs{
      {"add", Verb::kAdd}, {"list", Verb::kList}, {"revoke", Verb::kRevoke}};
  takes_word(tokens->add_option("VERB", options.verb, "add, list or revoke; default: list")->type_name(""),
             verbs);
  tokens->add_option("NAME", options.name, "Principal; for revoke also the id of one token")->type_name("");
  tokens
      ->add_option("--role", options.role,
                   "admin, developer, operator, approver, user, viewer, or one of roles.toml")
      ->type_name("ROLE");
  add_repeated(tokens, "--right", options.rights, "A single right, instead of a role", "RIGHT");
  tokens->add_option("--tenant", options.tenant, "It sees only the runs of this tenant")->type_name("NAME");
  add_repeated(tokens, "--agent", options.agents, "It may use this agent only", "NAME");
  add_parsed<Millis>(tokens, "--expires", options.expires, "It stands for this time: 8h, 90d", "TIME",
                     parse_duration);
  add_json(tokens, options.json, "token");
}

}  // namespace praxis::cli
