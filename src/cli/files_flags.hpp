// The arguments of `diff` and `undo` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kDiffHelp = "Show what a run changed in files, as a unified diff";
inline constexpr const char* kUndoHelp = "Take back what a run changed in files; what others changed stays";
inline constexpr const char* kDiffExamples =
    "  praxis diff last\n"
    "  praxis diff last --stat\n"
    "  praxis diff last@t2\n"
    "  praxis diff 01K9X | git apply -R";

inline constexpr const char* kFilesId =
    "Run id; with @STEP, what came after that step of the last turn; with @t2 or @t2.3, after that turn or "
    "step";

inline void add_diff_flags(CLI::App* diff, DiffOptions& options) {
  diff->add_option("ID[@STEP]", options.id, kFilesId)->type_name("")->required();
  diff->add_flag("--stat", options.stat, "Print only the files, with the lines that were added and removed");
  add_json(diff, options.json, "file");
  add_place(diff, options.place);
}

inline constexpr const char* kUndoExamples =
    "  praxis undo last --dry-run\n"
    "  praxis undo last\n"
    "  praxis undo 01K9X@t2\n"
    "  praxis undo last --redo";

inline void add_undo_flags(CLI::App* undo, UndoOptions& options) {
  undo->add_option("ID[@STEP]", options.id, kFilesId)->type_name("")->required();
  undo->add_option("--to", options.to, "The same as @STEP: to what the files were after it")
      ->type_name("STEP");
  undo->add_flag("--redo", options.redo, "Take the last undo back");
  undo->add_flag("--dry-run", options.dry_run, "Only say what would be done");
  undo->add_flag("-y,--yes", options.yes, "Do not ask before files change");
  add_json(undo, options.json, "file");
  add_place(undo, options.place);
}

}  // namespace praxis::cli
