// The arguments of `trust` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kTrustHelp =
    "Show what the project folder .praxis would set or let run, and trust it";
inline constexpr const char* kTrustExamples =
    "  praxis trust\n"
    "  praxis trust show\n"
    "  praxis trust accept --digest DIGEST\n"
    "  praxis trust list --json | jq -r 'select(.item) | .project'\n"
    "  praxis trust revoke ~/src/clone";

inline void add_trust_flags(CLI::App* trust, TrustOptions& options) {
  using Verb = TrustOptions::Verb;
  const std::map<std::string, Verb> verbs{
      {"show", Verb::kShow}, {"accept", Verb::kAccept}, {"list", Verb::kList}, {"revoke", Verb::kRevoke}};
  takes_word(
      trust
          ->add_option(
              "VERB", options.verb,
              "show, accept, list or revoke; default: show it, and ask at a terminal whether to trust it")
          ->type_name(""),
      verbs);
  trust->add_option("FOLDER", options.target, "Project to revoke; default: that of the current folder")
      ->type_name("");
  trust->add_option("--digest", options.digest, "Accept without a question, if what is there has this digest")
      ->type_name("DIGEST");
  add_json(trust, options.json, kEnvelope);
  takes_path(trust->add_option("-C,--directory", options.folder, "Work in this directory"), "DIR");
}

}  // namespace praxis::cli
