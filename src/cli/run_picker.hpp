// Lets the user choose a run at the terminal, where the command line names none.
#pragma once

#include <string>

#include "app/workspace.hpp"
#include "cli/console.hpp"

namespace praxis::cli {

/// The id of a run: at a terminal that can be redrawn, of all runs, which the user can search; at another, of
/// the newest that no process works on, by number. Errors `kInput`: there is no run, there is no terminal to
/// ask at, or the user chose none.
Result<std::string> pick_run(const app::Workspace& workspace, Console& console);

}  // namespace praxis::cli
