// The arguments of `memory` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kMemoryExamples =
    "  praxis memory list\n"
    "  praxis memory add \"Anna prefers green tea.\" --key anna --tag people\n"
    "  praxis memory search \"which tea\"\n"
    "  praxis memory forget anna\n"
    "  praxis memory export -o memory.jsonl";

inline void add_memory_flags(CLI::App* memory, MemoryCommandOptions& options) {
  using Verb = MemoryCommandOptions::Verb;
  const std::map<std::string, Verb> verbs{
      {"list", Verb::kList},     {"search", Verb::kSearch}, {"show", Verb::kShow},    {"add", Verb::kAdd},
      {"forget", Verb::kForget}, {"export", Verb::kExport}, {"import", Verb::kImport}};
  memory
      ->add_option("VERB", options.verb,
                   "list the collections, or the notes of one; search for words; show or forget a note; add "
                   "one; export or import as JSON Lines")
      ->type_name("")
      ->transform(CLI::CheckedTransformer(verbs).description(""));
  memory
      ->add_option(
          "WORD", options.word,
          "The text of search and add, the key of show and forget, the file of import; '-' reads the "
          "text or file from standard input")
      ->type_name("");
  memory
      ->add_option("-c,--collection", options.collection,
                   "Collection; default: notes, for list, search and export all")
      ->type_name("NAME");
  memory->add_option("--key", options.key, "Key of the added note; default: a new one")->type_name("KEY");
  add_repeated(memory, "--tag", options.tags, "Tag of the added note, or of those that are searched", "TAG");
  memory
      ->add_option("--filter", options.filter, "Condition on the notes that are listed or searched, as JSON")
      ->type_name("JSON");
  memory->add_option("-n,--limit", options.limit, "List or find at most this many")
      ->type_name("N")
      ->check(CLI::Range(1U, 10'000U).description(""));
  takes_path(memory->add_option("-o,--output", options.output, "Export to this file"), "FILE");
  memory->add_flag("--all", options.all, "Forget the whole collection");
  takes_path(memory->add_option("--memory", options.memory, "Memory file, instead of the configured one"),
             "FILE");
  add_json(memory, options.json, "note or collection");
  memory->add_option("--profile", options.place.profile, "Use this profile of the configuration")
      ->type_name("NAME");
  takes_path(memory->add_option("-C,--directory", options.place.folder, "Work in this directory"), "DIR");
}

}  // namespace praxis::cli
