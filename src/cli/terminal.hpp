// The terminal (tui/terminal.hpp) under the names of the commands.
#pragma once

#include "tui/terminal_streams.hpp"

namespace praxis::cli {

using tui::kDim, tui::kGreen, tui::kPlain, tui::kRed, tui::kYellow;
using tui::Terminal, tui::terminal_size, tui::TerminalSize;

}  // namespace praxis::cli
