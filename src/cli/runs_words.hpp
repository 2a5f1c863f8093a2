// Parses the words after `praxis runs`: text to search for, or a command and its targets.
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"

namespace praxis::cli {

struct RunsWords {
  std::vector<std::string> words;
  bool named = false, yes = false, dry_run = false;  ///< of the commands that remove
};

/// `praxis runs [TEXT]...` or `praxis runs COMMAND ...`; `runs` holds the parsed options. Error `kInput`.
Result<Invocation> runs_command(RunsOptions runs, const RunsWords& words);

}  // namespace praxis::cli
