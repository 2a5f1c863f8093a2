// Fits help into the width of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace praxis::cli {

/// Breaks the lines of a help text between words. A description in the line of its option goes below it
/// if the terminal is narrow; a command among the examples continues after a backslash, so that it can still
/// be copied. A word or quoted argument that is longer than a line stays whole.
std::string wrapped_help(std::string_view text, std::size_t columns);

}  // namespace praxis::cli
