// The arguments of `show`, `logs` and `export` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kShowExamples =
    "  praxis show last\n"
    "  praxis show 01K9X --records\n"
    "  praxis show last --context\n"
    "  praxis show 01K9X --json | jq 'select(.kind == \"effect_settled\")'";

inline void add_show_flags(CLI::App* show, ShowOptions& options) {
  add_id(show, options.id);
  auto* records = show->add_flag("--records", options.records,
                                 "Show the records, with the numbers that 'praxis fork' takes");
  show->add_flag("--context", options.context, "Show what fills the window of the model, by part, in tokens")
      ->excludes(records);
  add_json(show, options.json, "record");
  add_place(show, options.place);
}

inline constexpr const char* kLogsHelp =
    "Show the events of a run, computed from its journal, also while another process runs it";
inline constexpr const char* kLogsExamples =
    "  praxis logs last\n"
    "  praxis logs last --follow\n"
    "  praxis logs 01K9X --follow --from 40 --json\n"
    "  praxis logs 01K9X --json | jq -r 'select(.event == \"tool.failed\")'";

inline void add_logs_flags(CLI::App* logs, LogsOptions& options) {
  add_id(logs, options.id);
  logs->add_flag("-f,--follow", options.follow,
                 "Show further events as the run makes them, until its turn or its process has ended");
  logs->add_option("--from", options.from,
                   "Begin with the events of the record with this number, as in 'praxis show --records'")
      ->type_name("SEQ")
      ->check(CLI::Validator(is_number_from_1, ""));
  add_json(logs, options.json, "event");
  add_place(logs, options.place);
}

inline constexpr const char* kExportExamples =
    "  praxis export last -o run.jsonl\n"
    "  praxis export last --format markdown -o run.md\n"
    "  praxis export last --format html -o run.html\n"
    "  praxis export 01K9X | gzip > run.jsonl.gz";

inline void add_export_flags(CLI::App* write, ExportOptions& options) {
  add_id(write, options.id);
  takes_path(write->add_option("-o,--output", options.file,
                               "Write to this file instead of standard output, which is '-'"),
             "FILE");
  write
      ->add_option("--format", options.format,
                   "'records', which can be imported (the default), the conversation as 'markdown' or "
                   "'json', or 'html', a page that opens without a server")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"records", "markdown", "html", "json"}).description(""));
  add_place(write, options.place);
}

}  // namespace praxis::cli
