// Keeps a run whose journal was taken away: this process still has its files open.
#pragma once

#include <string>

#include "app/workspace.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis::cli {

/// Whether a run ended because the files of its journal were moved, replaced, deleted or cut.
bool is_journal_gone(const Error& error);

/// Exports the whole tree of a session, one new file for each session, next to where the journal was or else
/// to the folder for temporary files. Returns lines for the user: the commands that import the files, and the
/// sessions that could not be read.
std::string keep_run(Journal& journal, const SessionId& session, const app::Workspace& workspace);

}  // namespace praxis::cli
