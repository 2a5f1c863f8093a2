// The arguments of `redact` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kRedactHelp = "Print text without secrets and personal data";
inline constexpr const char* kRedactExamples =
    "  praxis redact < build.log\n"
    "  praxis redact --list notes.txt\n"
    "  praxis redact --profile strict x.log\n"
    "  praxis redact --only secrets .env";

inline void add_redact_flags(CLI::App* redact, RedactOptions& options) {
  takes_path(redact->add_option("FILE", options.file, "File to read; default: standard input"), "");
  redact->add_flag("--list", options.list, "List kind, line, column and length of what is found");
  redact
      ->add_option("--profile", options.profile,
                   "balanced (default), or strict: also what is often no secret")
      ->type_name("NAME")
      ->check(CLI::IsMember({"balanced", "strict"}).description(""));
  redact->add_option("--only", options.only, "Find only secrets, or only personal (data)")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"secrets", "personal"}).description(""));
  add_json(redact, options.json, "place");
}

}  // namespace praxis::cli
