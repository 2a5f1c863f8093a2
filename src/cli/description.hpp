// The command line as data, extracted from its one definition, for completion scripts and the man page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/result.hpp"

namespace praxis::cli {

struct OptionText {
  std::vector<std::string> flags;  ///< `-o`, `--output`; empty for a positional argument
  std::string value;               ///< placeholder such as `FILE`; empty for a flag without value
  std::string description;
};

struct CommandText {
  std::string name;
  std::string description;
  std::vector<OptionText> options;
  std::string footer;  ///< examples
};

struct ProgramText {
  std::string name;
  std::string version;
  std::string description;
  std::vector<CommandText> commands;
  std::string footer;  ///< exit status and other notes
};

/// The completion script for a shell. Error `kInput` for a shell other than bash, zsh and fish.
Result<std::string> completion_script(const ProgramText& program, std::string_view shell);
/// The man page, section 1, as troff source.
std::string man_page(const ProgramText& program);

}  // namespace praxis::cli
