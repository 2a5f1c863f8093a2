// Parses the words after `praxis tree`: a run to draw, or a command and its target.
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"

namespace praxis::cli {

struct TreeWords {
  std::string first;  ///< a run, or the command
  std::string node;
  std::string text;
  std::vector<std::string> further;  ///< `--and`: `VERB` or `VERB TEXT`
};

/// Whether `praxis tree` has a command of this name.
bool is_tree_command(const std::string& word);

/// `praxis tree [ROOT]` or `praxis tree COMMAND NODE [TEXT]`; `tree` holds the parsed options. Error
/// `kInput`.
Result<Invocation> tree_command(TreeOptions tree, const TreeWords& words);

}  // namespace praxis::cli
