// The arguments of `journal` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kJournalHelp =
    "Back up the journal and the stores next to it; show how they are sealed, seal them, change their keys";
inline constexpr const char* kJournalExamples =
    "  praxis journal show\n"
    "  praxis journal backup --to /backups/praxis-2026-01-31\n"
    "  praxis journal seal\n"
    "  praxis journal rekey --to passphrase\n"
    "  praxis journal new-key";

inline void add_journal_flags(CLI::App* journal, JournalOptions& options) {
  using Verb = JournalOptions::Verb;
  const std::map<std::string, Verb> verbs{{"show", Verb::kShow},
                                          {"backup", Verb::kBackup},
                                          {"seal", Verb::kSeal},
                                          {"rekey", Verb::kRekey},
                                          {"new-key", Verb::kNewKey}};
  takes_word(
      journal
          ->add_option(
              "VERB", options.verb,
              "show what is sealed; backup: copy journal, kept files, schedules, prompts and memory to a new "
              "folder, also while runs work; seal journal, kept files, schedules, prompts and memory with "
              "encryption.journal_key; rekey: wrap their data keys with another key; new-key: make "
              "new data keys and seal everything with them")
          ->type_name("")
          ->required(),
      verbs);
  journal
      ->add_option("--to", options.to,
                   "For backup: the folder to make. For rekey: where the new key is: file:PATH, env:NAME, "
                   "command:COMMAND, keyring:SERVICE/ACCOUNT, passphrase")
      ->type_name("FOLDER|SOURCE");
  add_json(journal, options.json, "");
  add_place(journal, options.place);
}

}  // namespace praxis::cli
