// The arguments of `secrets` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kSecretsHelp =
    "List the secrets that tools may name, and check that they can be read";
inline constexpr const char* kSecretsExamples =
    "  praxis secrets\n"
    "  praxis secrets check\n"
    "  praxis secrets check github --json";

inline void add_secrets_flags(CLI::App* secrets, SecretsOptions& options) {
  using Verb = SecretsOptions::Verb;
  const std::map<std::string, Verb> verbs{{"list", Verb::kList}, {"check", Verb::kCheck}};
  takes_word(secrets
                 ->add_option("VERB", options.verb,
                              "list, or check, which reads each, also by its command; default: list")
                 ->type_name(""),
             verbs);
  secrets->add_option("NAME", options.name, "Only this one")->type_name("");
  add_json(secrets, options.json, "secret");
  add_place(secrets, options.place);
}

}  // namespace praxis::cli
