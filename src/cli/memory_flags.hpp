// The arguments of `memory` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"
#include "praxis/base/duration.hpp"

namespace praxis::cli {

inline constexpr const char* kMemoryExamples =
    "  praxis memory list\n"
    "  praxis memory add \"Anna prefers green tea.\" --key anna --tag people\n"
    "  praxis memory search \"which tea\"\n"
    "  praxis memory forget anna\n"
    "  praxis memory add --files docs README.md\n"
    "  praxis memory sweep --max-age 90d\n"
    "  praxis memory export -o memory.jsonl";

inline void add_bound(CLI::App* memory, const std::string& name, std::optional<std::size_t>& bound,
                      const std::string& description, const std::string& type) {
  memory->add_option(name, bound, description)->type_name(type)->check(CLI::Validator(is_count, ""));
}

inline void add_memory_flags(CLI::App* memory, MemoryCommandOptions& options) {
  using Verb = MemoryCommandOptions::Verb;
  const std::map<std::string, Verb> verbs{{"list", Verb::kList},     {"search", Verb::kSearch},
                                          {"show", Verb::kShow},     {"add", Verb::kAdd},
                                          {"forget", Verb::kForget}, {"sweep", Verb::kSweep},
                                          {"export", Verb::kExport}, {"import", Verb::kImport}};
  takes_word(
      memory
          ->add_option(
              "VERB", options.verb,
              "list the collections, or the notes of one; search for words; show or forget a note; add "
              "one, or documents; sweep: forget the oldest; export or import as JSON Lines")
          ->type_name(""),
      verbs);
  memory
      ->add_option(
          "WORD", options.words,
          "The text of search and add, the key of show and forget, the file of import; '-' reads the "
          "text or file from standard input; with --files: files and folders")
      ->type_name("");
  memory->add_flag("--files", options.files,
                   "Add documents: files and all files below folders, those that have changed");
  memory
      ->add_option("-c,--collection", options.collection,
                   "Collection; default: notes; documents with --files; all for list, search and export")
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
  add_parsed<Millis>(memory, "--max-age", options.retention.max_age,
                     "Sweep what was written longer ago than this, such as 90d", "DURATION", parse_duration);
  add_bound(memory, "--max-notes", options.retention.max_notes, "Sweep the oldest beyond this many notes",
            "N");
  add_bound(memory, "--max-bytes", options.retention.max_bytes, "Sweep the oldest beyond this many bytes",
            "BYTES");
  memory->add_flag("--all", options.all, "Forget the whole collection");
  takes_path(
      memory->add_option("--memory", options.memory, "Memory file or address, instead of the configured"),
      "FILE");
  add_json(memory, options.json, "note, collection or document");
  memory->add_option("--profile", options.place.profile, "Use this profile of the configuration")
      ->type_name("NAME");
  takes_path(memory->add_option("-C,--directory", options.place.folder, "Work in this directory"), "DIR");
}

}  // namespace praxis::cli
