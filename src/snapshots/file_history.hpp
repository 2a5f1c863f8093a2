// Which files the calls of runs changed, from what and to what, and the contents, each stored once under its
// digest. A SQLite file next to the journal, sealed if there is a key. What was at a place before a call is
// durable before the call starts, so that a crash loses nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/base/ids.hpp"
#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"
#include "snapshots/file_scan.hpp"
#include "snapshots/file_state.hpp"
#include "store/sqlite_file.hpp"
#include "store/sqlite_seal.hpp"

namespace praxis {

/// Names of operations that no tool has.
inline constexpr const char* kUndoOperation = "undo";
inline constexpr const char* kRedoOperation = "redo";

/// A content and its digest.
struct KeptContent {
  Digest digest;
  std::string bytes;
};

/// What changes files: a call of a tool, or a restore.
struct FileOperation {
  std::int64_t id = 0;
  SessionId session;
  std::string effect;  ///< of a call: the id of its effect; empty for a restore
  std::string tool;    ///< or `kUndoOperation`, `kRedoOperation`
  UnixMillis time;
  std::uint64_t after = 0;  ///< of a restore: how many records the session had
  /// Its beginning and its end in the order of all beginnings and ends; no end yet: 0.
  std::uint64_t began = 0, ended = 0;
  std::string owner;  ///< the `FileHistory` that began it
  ChangePlaces places;

  bool is_restore() const { return effect.empty(); }
};

/// What the file of a history is.
const SqliteFileForm& file_history_form();

/// Thread-safe; several processes may have the same file open. Errors have code `kJournal`, as those of a
/// journal.
class FileHistory {
 public:
  /// The name of the history that belongs to a journal.
  static std::string path_for(const std::string& journal) { return journal + ".files"; }
  /// Opens the file; with `create` makes it if it is missing. Errors as of `open_sqlite_file`.
  static Result<std::shared_ptr<FileHistory>> open(const std::string& path, bool create,
                                                   const AskStoreSecret& secret = {});

  /// Stores contents under their digests, in one transaction.
  Status keep(const std::vector<KeptContent>& contents);
  Result<std::string> content(const Digest& digest);

  /// Begins an operation; `id`, `began` and `owner` are set here. `before` is durable when this returns.
  Result<std::int64_t> begin(const FileOperation& operation, const FileStates& before);
  /// Ends a call: stores what differs.
  Status end(std::int64_t operation, const FileStates& after);
  /// Begins a restore, with all that it will change.
  Result<std::int64_t> begin_restore(const FileOperation& operation, const std::vector<PathChange>& changes);
  /// Takes a change out of a restore that could not be made.
  Status drop(std::int64_t operation, const std::string& path);
  /// Ends a restore.
  Status end_restore(std::int64_t operation);

  /// The operations of these sessions, in the order of their beginnings.
  Result<std::vector<FileOperation>> operations(const std::vector<SessionId>& sessions);
  /// All sessions that changed files.
  Result<std::vector<SessionId>> sessions();
  /// The operations of a session that have not ended.
  Result<std::vector<FileOperation>> open_operations(const SessionId& session);
  Result<std::vector<PathChange>> changes(std::int64_t operation);
  /// What was there before an operation that has not ended.
  Result<FileStates> states_before(std::int64_t operation);
  /// Whether this object began the operation.
  bool is_own(const FileOperation& operation) const { return operation.owner == owner_; }

  /// Removes what is known of these sessions, and the contents that no other one needs.
  Status forget(const std::vector<SessionId>& sessions);

  SeenFiles& seen() { return seen_; }

 private:
  explicit FileHistory(Database database);

  template <class Work>
  Status in_transaction(Work work);
  Result<std::uint64_t> tick();
  Result<std::int64_t> insert(FileOperation operation, const std::optional<std::string>& states);
  Status add_changes(std::int64_t operation, const std::vector<PathChange>& changes);
  Status finish(std::int64_t operation);
  Status remove_unused();

  std::mutex mutex_;
  Database database_;
  const std::string owner_;
  SeenFiles seen_;
};

}  // namespace praxis
