// Makes a tool note in a file history what its calls change.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "praxis/tools/tool.hpp"
#include "snapshots/file_history.hpp"

namespace praxis {

/// Looks at the places, and keeps the contents in the history. Errors of `look_at` and of the history.
Result<FileStates> look_and_keep(
    FileHistory& history, const ChangePlaces& places,
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max());

/// Ends the calls of the session that a process left open when it died: what differs now counts as theirs.
/// The caller knows that no other process runs the session.
Status end_left_calls(FileHistory& history, const SessionId& session);

using FileHistoryPtr = std::shared_ptr<FileHistory>;
/// Gives the history; called from any thread.
using OpenHistory = std::function<Result<FileHistoryPtr>()>;

/// The tool, whose calls note in the history what was at the places before and what is there after them. With
/// `argument`, a call changes only the file that this argument names. A call whose files cannot be kept
/// fails before it changes anything (`kTool`, `ErrorKind::kMachine`).
Tool kept_tool(Tool tool, OpenHistory open, ChangePlaces places, std::string argument = {});

}  // namespace praxis
