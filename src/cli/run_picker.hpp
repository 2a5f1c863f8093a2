// Lets the user choose a run at the terminal, where the command line names none.
#pragma once

#include <string>

#include "app/workspace.hpp"
#include "cli/console.hpp"

namespace praxis::cli {

/// The id of one of the newest runs that no process works on. Errors `kInput`: no run is left, there is no
/// terminal to ask at, or the user chose none.
Result<std::string> pick_run(const app::Workspace& workspace, Console& console);

}  // namespace praxis::cli
