// Shows a text at the terminal page by page.
#pragma once

#include <string_view>

#include "cli/console.hpp"

namespace praxis::cli {

/// Writes `text`, complete lines that fit the width, to standard error, and waits for Enter after each page.
/// Returns true once all of it was shown, false if the user leaves (`q`, or the end of standard input). Needs
/// a terminal.
bool show_pages(std::string_view text, Console& console);

}  // namespace praxis::cli
