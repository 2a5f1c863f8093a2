// The arguments of `policy` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kPolicyHelp = "Show, try and test the rules about what an agent may do";
inline constexpr const char* kPolicyExamples =
    "  praxis policy show coder\n"
    "  praxis policy check coder shell '{\"argv\": [\"git\", \"push\"]}'\n"
    "  praxis policy test rules_test.toml\n"
    "  praxis policy explain last 3";

inline void add_policy_flags(CLI::App* policy, PolicyOptions& options) {
  using Verb = PolicyOptions::Verb;
  const std::map<std::string, Verb> verbs{
      {"show", Verb::kShow}, {"check", Verb::kCheck}, {"test", Verb::kTest}, {"explain", Verb::kExplain}};
  takes_word(policy
                 ->add_option("VERB", options.verb,
                              "show the rules of an agent, layer by layer; check what they say about a call; "
                              "test the cases in files; explain a call of a run")
                 ->type_name("")
                 ->required(),
             verbs);
  policy
      ->add_option("WORDS", options.words,
                   "For show an agent; for check an agent, a tool, and the arguments as JSON ('-' reads them "
                   "from standard input); for test files with [[cases]]; for explain a run, and the id or "
                   "number of a call")
      ->type_name("");
  policy->add_option("--at", options.at, "For check: the time of the call, such as 2026-01-31T12:00:00Z")
      ->type_name("TIME");
  policy->add_option("--calls", options.calls, "For check: how many such calls have begun just before")
      ->type_name("N")
      ->check(CLI::Range(0U, 1'000'000U).description(""));
  add_json(policy, options.json, "layer or case");
  add_place(policy, options.place);
}

}  // namespace praxis::cli
