// Takes files back to what they were before certain operations. Never touches a file that those did not
// change, or that holds anything but what they left there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapshots/file_history.hpp"

namespace praxis {

/// What becomes of one path.
enum class RestoreVerdict : std::uint8_t {
  kRestore,
  kSame,            ///< is already what it was
  kChangedSince,    ///< conflict: others changed it after the operations
  kChangedBetween,  ///< conflict: others changed it between the operations
  kUnkept,          ///< its content was not kept
  kRefused          ///< it cannot be written now, or no tool may write it
};
std::string_view to_string(RestoreVerdict verdict);
/// The verdict of this name; nothing for any other text.
std::optional<RestoreVerdict> restore_verdict(std::string_view name);
/// Whether the path stays although it should change.
bool is_conflict(RestoreVerdict verdict);

/// One path that operations changed: `before` them, and `after` them.
struct RestoreStep {
  PathChange change;
  ChangePlaces places;  ///< of the last operation
  RestoreVerdict verdict = RestoreVerdict::kRestore;
};

/// The net change of each path by the operations, in the order of the paths. Where others changed a
/// path in between, each part by itself, the first marked `kChangedBetween`.
Result<std::vector<RestoreStep>> net_changes(FileHistory& history,
                                             const std::vector<FileOperation>& operations);

/// What undoing the operations would do now. Changes nothing.
Result<std::vector<RestoreStep>> plan_undo(FileHistory& history,
                                           const std::vector<FileOperation>& operations);

/// Restores what the plan says, as `operation`, and updates the verdicts of what could not be restored. A
/// crash in between leaves the operation open; `finish_restores` completes it. Errors of the history.
Status carry_out(FileHistory& history, const FileOperation& operation, std::vector<RestoreStep>& plan);

/// Completes the restores that a crash has left, among these operations.
Status finish_restores(FileHistory& history, const std::vector<FileOperation>& operations);

}  // namespace praxis
