#include "snapshots/restore.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <tuple>
#include <utility>

#include "praxis/base/environment.hpp"
#include "tools/file_replace.hpp"

namespace praxis {
namespace {

using Kind = FileState::Kind;

/// What operations that overlap in time did to a path together.
struct Span {
  std::uint64_t began = 0, ended = 0;
  FileState before, after;
  const ChangePlaces* places = nullptr;
};

/// Adds the change of an operation, which began after those that were added before.
void add_span(std::vector<Span>& spans, const FileOperation& operation, const PathChange& change) {
  const bool overlaps = !spans.empty() && operation.began < spans.back().ended;
  if (!overlaps) {
    spans.push_back({operation.began, operation.ended, change.before, change.after, &operation.places});
  } else if (Span& last = spans.back(); operation.ended > last.ended) {
    last.ended = operation.ended;
    last.after = change.after;
    last.places = &operation.places;
  }
}

ScanOptions without_contents() {
  ScanOptions options;
  options.bounds.all_bytes = ~std::uint64_t{0} >> 1;
  return options;
}

/// The place of a path; error: no tool may write it.
Result<FilePlace> place_of(const ChangePlaces& places, const std::string& path) {
  const FileRoots roots(places.folders, places.bounds);
  auto found = roots.places(path);
  if (!found) return fail(std::move(found.error()));
  FilePlace& place = found->front();
  if (const auto protection = roots.protection(place, place.path); protection != PathProtection::kNone)
    return protected_error(path, protection);
  return std::move(place);
}

Result<FileState> present_state(const RestoreStep& step) {
  const auto place = place_of(step.places, step.change.path);
  if (!place) return fail(place.error());
  return state_at(*place, place->path, without_contents());
}

bool needs_content(const FileState& state) { return state.kind == Kind::kFile || state.kind == Kind::kLink; }

RestoreVerdict judge(const RestoreStep& step) {
  const auto& [path, target, expected] = step.change;
  if (step.verdict != RestoreVerdict::kRestore) return step.verdict;
  if (target == expected) return RestoreVerdict::kSame;
  if (target.kind == Kind::kUnkept || expected.kind == Kind::kUnkept) return RestoreVerdict::kUnkept;
  const auto now = present_state(step);
  if (!now) return RestoreVerdict::kRefused;
  if (*now == target) return RestoreVerdict::kSame;
  return *now == expected ? RestoreVerdict::kRestore : RestoreVerdict::kChangedSince;
}

/// Replaces `name` in an open folder. Returns 0, or the `errno` of the failure.
int put(int folder, const std::string& name, const FileState& state, const std::string& bytes) {
  if (state.kind == Kind::kFile) return replace_file(folder, name, bytes, static_cast<mode_t>(state.mode));
  const std::string draft = ".praxis-draft-" + system_environment()->new_id();
  if (symlinkat(bytes.c_str(), folder, draft.c_str()) != 0) return errno;
  if (renameat(folder, draft.c_str(), folder, name.c_str()) == 0) return fsync(folder) == 0 ? 0 : errno;
  const int error = errno;
  unlinkat(folder, draft.c_str(), 0);
  return error;
}

/// Makes one path what it was. Returns false if it cannot be, or is no longer what is expected there.
Result<bool> restore_path(FileHistory& history, const RestoreStep& step) {
  const auto& [path, target, expected] = step.change;
  std::string bytes;
  if (needs_content(target)) {
    auto content = history.content(target.digest);
    if (!content) return fail(std::move(content.error()));
    bytes = *std::move(content);
  }
  auto place = place_of(step.places, path);
  if (!place) return false;
  const auto now = state_at(*place, place->path, without_contents());
  if (!now || (*now != expected && *now != target)) return false;
  if (*now == target) return true;
  std::string name = place->path;
  const auto folder = open_parent(std::move(place->root), name);
  if (!folder) return false;
  const bool was_folder = now->kind == Kind::kFolder;
  const bool changes_kind = was_folder || target.kind == Kind::kFolder || target.kind == Kind::kMissing;
  if (now->kind != Kind::kMissing && changes_kind) {
    if (unlinkat(folder->get(), name.c_str(), was_folder ? AT_REMOVEDIR : 0) != 0) return was_folder;
    fsync(folder->get());
  }
  if (target.kind == Kind::kMissing) return true;
  if (target.kind == Kind::kFolder) return mkdirat(folder->get(), name.c_str(), 0777) == 0;
  return put(folder->get(), name, target, bytes) == 0;
}

/// Contents of folders go before the folders, and folders come before their contents.
std::vector<RestoreStep*> in_order(std::vector<RestoreStep>& plan) {
  std::vector<RestoreStep*> going, coming;
  for (RestoreStep& step : plan) {
    if (step.verdict != RestoreVerdict::kRestore) continue;
    (step.change.before.kind == Kind::kMissing ? going : coming).push_back(&step);
  }
  std::ranges::reverse(going);
  going.insert(going.end(), coming.begin(), coming.end());
  return going;
}

Status restore_all(FileHistory& history, std::int64_t operation, std::vector<RestoreStep>& plan) {
  for (RestoreStep* step : in_order(plan)) {
    const auto done = restore_path(history, *step);
    if (!done) return fail(done.error());
    if (*done) continue;
    step->verdict = RestoreVerdict::kRefused;
    if (auto dropped = history.drop(operation, step->change.path); !dropped) return dropped;
  }
  return history.end_restore(operation);
}

}  // namespace

std::string_view to_string(RestoreVerdict verdict) {
  switch (verdict) {
    case RestoreVerdict::kRestore:
      return "restore";
    case RestoreVerdict::kSame:
      return "same";
    case RestoreVerdict::kChangedSince:
      return "changed_since";
    case RestoreVerdict::kChangedBetween:
      return "changed_between";
    case RestoreVerdict::kUnkept:
      return "not_kept";
    case RestoreVerdict::kRefused:
      return "refused";
  }
  return "";
}

std::optional<RestoreVerdict> restore_verdict(std::string_view name) {
  using enum RestoreVerdict;
  for (const RestoreVerdict each : {kRestore, kSame, kChangedSince, kChangedBetween, kUnkept, kRefused}) {
    if (to_string(each) == name) return each;
  }
  return std::nullopt;
}

bool is_conflict(RestoreVerdict verdict) {
  return verdict != RestoreVerdict::kRestore && verdict != RestoreVerdict::kSame;
}

Result<std::vector<RestoreStep>> net_changes(FileHistory& history,
                                             const std::vector<FileOperation>& operations) {
  std::map<std::string, std::vector<Span>> paths;
  for (const FileOperation& operation : operations) {
    if (operation.ended == 0) continue;
    const auto changes = history.changes(operation.id);
    if (!changes) return fail(changes.error());
    for (const PathChange& change : *changes) add_span(paths[change.path], operation, change);
  }
  std::vector<RestoreStep> steps;
  for (const auto& [path, spans] : paths) {
    std::size_t first = steps.size();
    for (const Span& span : spans) {
      const bool follows = steps.size() > first && steps.back().change.after == span.before;
      if (!follows) steps.push_back({{path, span.before, span.after}, *span.places});
      steps.back().change.after = span.after;
      steps.back().places = *span.places;
    }
    for (; first + 1 < steps.size(); ++first) steps[first].verdict = RestoreVerdict::kChangedBetween;
  }
  return steps;
}

Result<std::vector<RestoreStep>> plan_undo(FileHistory& history,
                                           const std::vector<FileOperation>& operations) {
  auto steps = net_changes(history, operations);
  if (!steps) return steps;
  // The later part of a path that others changed in between stays too: without the first part the file
  // would be neither what it was nor what it is.
  for (std::size_t i = steps->size(); i-- > 1;) {
    RestoreStep& step = (*steps)[i - 1];
    if (step.verdict != RestoreVerdict::kChangedBetween) continue;
    steps->erase(steps->begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (RestoreStep& step : *steps) step.verdict = judge(step);
  return steps;
}

Status carry_out(FileHistory& history, const FileOperation& operation, std::vector<RestoreStep>& plan) {
  std::vector<PathChange> changes;
  for (const auto& [change, places, verdict] : plan) {
    if (verdict == RestoreVerdict::kRestore) changes.push_back({change.path, change.after, change.before});
  }
  if (changes.empty()) return {};
  FileOperation restore = operation;
  // A restore after a crash finds the folders of all its paths here.
  for (const auto& [change, places, verdict] : plan) {
    for (const std::string& folder : places.folders) {
      if (std::ranges::count(restore.places.folders, folder) == 0) restore.places.folders.push_back(folder);
    }
    restore.places.bounds = places.bounds;
  }
  const auto id = history.begin_restore(restore, changes);
  if (!id) return fail(id.error());
  return restore_all(history, *id, plan);
}

Status finish_restores(FileHistory& history, const std::vector<FileOperation>& operations) {
  for (const FileOperation& operation : operations) {
    if (!operation.is_restore() || operation.ended != 0) continue;
    const auto changes = history.changes(operation.id);
    if (!changes) return fail(changes.error());
    std::vector<RestoreStep> plan;
    for (const auto& [path, from, to] : *changes) plan.push_back({{path, to, from}, operation.places});
    if (auto done = restore_all(history, operation.id, plan); !done) return done;
  }
  return {};
}

}  // namespace praxis
