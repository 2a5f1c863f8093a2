// What a run and its sub-agents changed in files: as a diff, and taken back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/workspace.hpp"
#include "snapshots/file_history.hpp"
#include "snapshots/restore.hpp"

namespace praxis::app {

/// The operations of a run and of its sub-agents on files.
struct RunFiles {
  std::shared_ptr<FileHistory> history;  ///< null: nothing was kept in this journal
  SessionId run;
  std::uint64_t records = 0;                     ///< of the run
  std::vector<SessionId> sessions;               ///< the run, and those below it
  std::vector<FileOperation> operations;         ///< in the order of their beginnings
  std::map<std::int64_t, std::uint64_t> places;  ///< the record of the run to which each operation belongs

  /// The operations that came after a record of the run.
  std::vector<FileOperation> after(std::uint64_t seq) const;
};

/// Whether a process works on the run: what is not finished then stays so.
enum class RunInUse : bool { kNo, kYes };

/// Reads them. Unless the run is in use, ends what a killed process left unfinished. Error `kJournal`.
Result<RunFiles> files_of_run(const Workspace& workspace, Journal& journal, const SessionId& run,
                              RunInUse use);

/// What a call or a step changed in one file.
struct FileDiff {
  RestoreStep step;
  std::string name;    ///< the path, relative to the current folder if it lies there
  std::string status;  ///< `added`, `deleted`, `modified` or `not_kept`
  bool binary = false;
  std::size_t added = 0, removed = 0;  ///< lines
  std::vector<std::string> lines;      ///< a unified diff with its header; of a binary file the header only
};
enum class DiffForm : bool {
  kSafe,  ///< safe to display
  kExact  ///< the bytes of the files, for other programs
};
/// What the operations changed, folders left out. Error `kJournal`.
Result<std::vector<FileDiff>> file_diffs(FileHistory& history, const std::vector<FileOperation>& operations,
                                         DiffForm form);

/// What is taken back.
struct UndoRequest {
  std::uint64_t after = 0;  ///< all that came after this record of the run
  bool redo = false;        ///< instead, the last undo
};
/// What taking it back would do now. Error `kInput`: there is no undo to take back.
Result<std::vector<RestoreStep>> plan_of(const RunFiles& files, const UndoRequest& request);
/// Carries the plan out, and updates its verdicts. Errors of the history.
Status restore_files(const RunFiles& files, const UndoRequest& request, std::vector<RestoreStep>& plan,
                     UnixMillis now);

/// Whether a plan is only made, or carried out too.
enum class UndoAct : bool { kPlan, kCarryOut };
/// Takes the files of a run back as the request says, or returns what that would do. A run that is in use
/// must only be planned for. Errors of `files_of_run`, `plan_of` and `restore_files`.
Result<std::vector<RestoreStep>> undo_in_files(const Workspace& workspace, Journal& journal,
                                               const SessionId& run, RunInUse use, const UndoRequest& request,
                                               UndoAct act, UnixMillis now);

/// The lease of a run for as long as the object lives: no turn of it begins meanwhile, in any process.
class HeldRun {
 public:
  HeldRun(std::shared_ptr<Journal> journal, const SessionId& run);
  ~HeldRun();
  HeldRun(const HeldRun&) = delete;
  HeldRun& operator=(const HeldRun&) = delete;
  /// Error `kLeaseHeld`: another process, or another part of this one, has the run open.
  Status status() const { return lease_ ? Status{} : fail(lease_.error()); }

 private:
  const std::shared_ptr<Journal> journal_;
  const Result<Lease> lease_;
};

/// Counts over a plan.
struct RestoreCounts {
  std::size_t restored = 0, conflicts = 0;
};
RestoreCounts counts_of(const std::vector<RestoreStep>& plan);
/// One line for each path that changes or is in conflict, safe to display; folders are left out. `done`: the
/// plan was carried out.
std::vector<std::string> restore_lines(const std::vector<RestoreStep>& plan, bool done);
/// `{path, action, verdict}`.
Json to_json(const RestoreStep& step);
/// What a server says of one file, as `restore_lines` and `counts_of` need it.
RestoreStep restore_step_from(const Json& json);
/// Whether the path is a folder before and after: such are neither counted nor listed.
bool is_folder_step(const RestoreStep& step);

/// The record before the turn, as `RunFiles::after` takes it. Error `kInput`: the run has no such turn.
Result<std::uint64_t> record_before_turn(const std::vector<StoredRecord>& records, const TurnId& turn);

/// Forgets the files of runs that the journal no longer has. Error `kJournal`.
Status forget_removed_runs(const Workspace& workspace, Journal& journal);

}  // namespace praxis::app
