// The flags of `doctor` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/engine_flags.hpp"
#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline void add_doctor_flags(CLI::App* doctor, DoctorOptions& options) {
  add_json(doctor, options.json, kEnvelope);
  doctor->add_flag("--online", options.online, "Check whether the providers can be reached too");
  CLI::Option* fix = doctor->add_flag(
      "--fix", options.fix,
      "First create missing folders of yours, and make configuration, keys and tokens safe from other users");
  doctor
      ->add_option_function<std::string>(
          "--head", [&options](const std::string& head) { options.head = head; },
          "Print where the journal ends, or check that it still has all that HEAD, printed earlier, names")
      ->type_name("HEAD")
      ->expected(0, 1)
      ->excludes(fix);
  doctor
      ->add_flag("--accept-loss", options.accept_loss,
                 "Go on with what is left of a journal that lost acknowledged records; copies it first")
      ->excludes(fix);
  add_engine_place(doctor, options.engine, "Try the engine of praxis serve --engine too: restate");
  doctor->add_flag("--yes", options.yes, "Accept the loss without confirmation");
  add_place(doctor, options.place);
}

}  // namespace praxis::cli
