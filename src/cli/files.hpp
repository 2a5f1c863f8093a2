// Takes the files of a run back, for the commands that do so.
#pragma once

#include <cstddef>

#include "app/run_files.hpp"
#include "app/workspace.hpp"
#include "cli/console.hpp"

namespace praxis::cli {

/// How it is done.
struct RestoreAsk {
  bool dry_run = false;
  bool yes = false;  ///< does not ask, also at a terminal
  bool json = false;
  bool quiet = false;  ///< nothing goes to standard output
};
struct FilesRestored {
  std::size_t changed = 0, conflicts = 0;
};
/// Shows which files change, asks at a terminal, and restores them. Errors: `lease_held` if a process has the
/// run open; `kInput`: there is no undo to take back, or the user does not agree; `kJournal`.
Result<FilesRestored> restore_run_files(const app::Workspace& workspace, const app::StoredSession& stored,
                                        const app::UndoRequest& request, const RestoreAsk& ask,
                                        Console& console);

}  // namespace praxis::cli
