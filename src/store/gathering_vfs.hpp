// Writes each transaction to SQLite's write-ahead log with one system call. SQLite writes the header and the
// page of each frame separately; this VFS gathers the frames of a transaction. A model call with its tool
// call makes 2.3 pwrite64 instead of 10.
#pragma once

namespace praxis {

/// Returns the name of an SQLite VFS that gathers writes to the write-ahead log and forwards all other calls
/// to the current default VFS. Durability and visibility are unchanged: the call that writes the last frame
/// of a transaction writes all gathered frames before it returns, as does every read and sync of the log. Use
/// it with `cache_spill` off, so that SQLite writes frames only when it commits. Thread-safe.
const char* gathering_vfs();

}  // namespace praxis
