// The words after `praxis tree`: a run to draw, or an order and who is to carry it out.
#pragma once

#include <string>

#include "cli/options.hpp"

namespace praxis::cli {

struct TreeWords {
  std::string first;  ///< a run, or the order
  std::string node;
  std::string text;
};

/// `praxis tree [ROOT]` or `praxis tree ORDER NODE [TEXT]`; `tree` has what its options say. Error `kInput`.
Result<Command> tree_command(TreeOptions tree, const TreeWords& words);

}  // namespace praxis::cli
