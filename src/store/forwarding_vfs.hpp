// The common part of our SQLite file systems: every call but `xOpen` goes to the default VFS, which is looked
// up at each call because tests replace it.
#pragma once

#include <sqlite3.h>

#include <cstddef>

namespace praxis {

/// Bytes that the file of a default VFS may take; SQLite's own takes 120.
inline constexpr std::size_t kRoomForFile = 1024;

sqlite3_vfs* default_vfs();

/// Returns a VFS with this name, which must live as long as the program. `file_size` is the size of its
/// files.
sqlite3_vfs forwarding_vfs(const char* name, int file_size,
                           int (*open)(sqlite3_vfs*, const char*, sqlite3_file*, int, int*));

/// Returns `real` with the replacements that `replace` makes. Makes them once for each pair; the result lives
/// as long as the program. Thread-safe. `replace` is called with a lock held.
const sqlite3_io_methods* with_replaced(const sqlite3_io_methods* real, void (*replace)(sqlite3_io_methods&));

/// The methods of a file from before `with_replaced`.
const sqlite3_io_methods& real_methods(const sqlite3_file* file);

/// Makes locks of the shared index that fail for an error of the system report that error. SQLite's own VFS
/// takes each failure for a lock of another process, and then waits for that process. For the main file.
void report_lock_errors(sqlite3_io_methods& methods);

}  // namespace praxis
