// The words of the command line's errors and of its shortcuts.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace praxis::cli {

/// The arguments with `help [COMMAND]` as `[COMMAND] --help`, `version` and `-V` as `--version`, and
/// `mcp add NAME -- PROGRAM` as `mcp add -- NAME PROGRAM`.
std::vector<std::string> without_shortcuts(std::span<const std::string> arguments);

/// The hint for a first word that is no command: that several words are a prompt.
std::string hint_for_words(std::span<const std::string> words);

/// The hint for an argument too many: to quote a prompt of several words, or the help of the command.
/// `arguments` begin with the command.
std::string hint_for_rest(std::span<const std::string> arguments);

/// The message of the argument parser in our words, with values in quotes.
std::string plain_message(const std::string& message);

}  // namespace praxis::cli
