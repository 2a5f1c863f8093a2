// Opens the workspace of a command and says on standard error if its folder has a project that does not
// count.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "app/workspace.hpp"
#include "cli/console.hpp"

namespace praxis::cli {

/// `app::open_workspace`; prints a notice of one line if the project of the folder is ignored, and later if
/// the journal waits for another process. The console must live as long as the journal.
Result<app::Workspace> open_place(const app::Place& place, Console& console,
                                  std::map<std::string, std::string> flags = {});

/// Says on standard error that nothing has run here yet.
void say_no_runs(const app::Workspace& workspace, Console& console);
/// The journal of a workspace, only to read it. Null, after `say_no_runs`: it does not exist yet.
Result<std::shared_ptr<Journal>> journal_to_look_at(const app::Workspace& workspace, Console& console);

}  // namespace praxis::cli
