// SQLite's files for connections that only read. They never create the log: a reader that comes just when the
// last writer removes the log must not leave an empty one.
#pragma once

namespace praxis {

/// Returns the name of a VFS whose readers share SQLite's locks and its index of the log with the writers.
const char* sharing_vfs();

/// Returns the name of a VFS whose readers take no locks and build the index of the log in their own memory:
/// they need the file and its log and no permission to write. The caller checks that neither changed while it
/// was read.
const char* detached_vfs();

}  // namespace praxis
