#include "app/run_files.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <variant>

#include "app/hints.hpp"
#include "app/line_changes.hpp"
#include "app/plain_text.hpp"
#include "base/path_below.hpp"
#include "logs/lineage.hpp"
#include "praxis/logs/logs.hpp"
#include "snapshots/kept_tool.hpp"

namespace praxis::app {
namespace {

using Kind = FileState::Kind;

/// Where the effects and sub-agents of a run begin in its log.
struct RunLog {
  std::map<std::string, std::uint64_t> effects;
  std::map<SessionId, std::uint64_t> children;
  std::uint64_t records = 0;
};

Result<RunLog> read_log(Journal& journal, const SessionId& run) {
  const auto records = read_records(journal, run);
  if (!records) return fail(records.error());
  RunLog log;
  log.records = records->size();
  for (const auto& [seq, record] : *records) {
    if (const auto* intended = std::get_if<records::EffectIntended>(&record.body))
      log.effects.try_emplace(intended->effect.str(), seq);
    if (const auto* spawned = std::get_if<records::ChildSpawned>(&record.body))
      log.children.try_emplace(spawned->child, seq);
  }
  return log;
}

/// Adds the sessions below `parent`, with the record of the run to which they belong.
Status add_children(Journal& journal, const SessionId& parent, std::uint64_t seq, int level,
                    std::map<SessionId, std::uint64_t>& found) {
  if (level >= kMostLevels) return {};
  const auto children = journal.children(parent);
  if (!children) return fail(children.error());
  for (const SessionRow& child : *children) {
    if (!found.try_emplace(child.id, seq).second) continue;
    if (auto added = add_children(journal, child.id, seq, level + 1, found); !added) return added;
  }
  return {};
}

Status end_left(const RunFiles& files) {
  for (const SessionId& session : files.sessions) {
    if (auto ended = end_left_calls(*files.history, session); !ended) return ended;
  }
  const auto operations = files.history->operations(files.sessions);
  return operations ? finish_restores(*files.history, *operations) : fail(operations.error());
}

bool holds_text(std::string_view bytes) { return bytes.find('\0') == std::string_view::npos; }
bool is_content(const FileState& state) { return state.kind == Kind::kFile || state.kind == Kind::kLink; }

Result<std::string> content_of(FileHistory& history, const FileState& state) {
  return is_content(state) ? history.content(state.digest) : Result<std::string>(std::string());
}

std::string shown_name(const std::string& path) {
  std::error_code failed;
  const auto here = std::filesystem::current_path(failed);
  const std::string below(failed ? std::string_view() : path_below(here.string(), path));
  return below.empty() ? path : below;
}

std::string file_status(const PathChange& change) {
  const Kind before = change.before.kind, after = change.after.kind;
  if (before == Kind::kUnkept || after == Kind::kUnkept) return "not_kept";
  if (!is_content(change.before)) return "added";
  return is_content(change.after) ? "modified" : "deleted";
}

/// `a/NAME` or `/dev/null`.
std::string header(const char* mark, char side, const std::string& name, const FileState& state) {
  if (!is_content(state)) return std::string(mark) + " /dev/null";
  return std::string(mark) + ' ' + side + (name.starts_with('/') ? "" : "/") + name;
}

Status add_lines(FileHistory& history, DiffForm form, FileDiff& diff) {
  const PathChange& change = diff.step.change;
  const auto before = content_of(history, change.before), after = content_of(history, change.after);
  if (!before) return fail(before.error());
  if (!after) return fail(after.error());
  const std::string name = form == DiffForm::kSafe ? exact(diff.name) : diff.name;
  diff.lines = {header("---", 'a', name, change.before), header("+++", 'b', name, change.after)};
  diff.binary = !holds_text(*before) || !holds_text(*after);
  if (diff.binary) {
    diff.lines = {"Binary files differ: " + name};
    return {};
  }
  UnifiedDiff changed =
      unified_diff(*before, *after, form == DiffForm::kSafe ? LineForm::kSafe : LineForm::kExact);
  diff.added = changed.added;
  diff.removed = changed.removed;
  diff.lines.insert(diff.lines.end(), changed.lines.begin(), changed.lines.end());
  return {};
}

bool is_folder(const PathChange& change) {
  return !is_content(change.before) && !is_content(change.after) && change.before.kind != Kind::kUnkept &&
         change.after.kind != Kind::kUnkept;
}

std::string action_of(const RestoreStep& step, bool done) {
  switch (step.verdict) {
    case RestoreVerdict::kRestore:
      if (step.change.before.kind == Kind::kMissing) return done ? "removed  " : "remove   ";
      return done ? "restored " : "restore  ";
    case RestoreVerdict::kSame:
      return "same     ";
    case RestoreVerdict::kUnkept:
      return "not kept ";
    default:
      return "conflict ";
  }
}

std::string verdict_reason(RestoreVerdict verdict) {
  switch (verdict) {
    case RestoreVerdict::kChangedSince:
      return ": changed since, not by this run; it stays";
    case RestoreVerdict::kChangedBetween:
      return ": changed in between, not by this run; it stays";
    case RestoreVerdict::kUnkept:
      return ": ignored by the project, or too large; it stays";
    case RestoreVerdict::kRefused:
      return ": it cannot be written now; it stays";
    default:
      return "";
  }
}

/// The undo that a redo takes back: the last one that was not taken back.
const FileOperation* last_undo(const std::vector<FileOperation>& operations) {
  std::size_t taken_back = 0;
  for (auto each = operations.rbegin(); each != operations.rend(); ++each) {
    if (!each->is_restore()) return nullptr;
    if (each->tool == kRedoOperation) {
      ++taken_back;
    } else if (taken_back == 0) {
      return &*each;
    } else {
      --taken_back;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<FileOperation> RunFiles::after(std::uint64_t seq) const {
  std::vector<FileOperation> later;
  for (const FileOperation& operation : operations) {
    const auto place = places.find(operation.id);
    if (place != places.end() && place->second > seq) later.push_back(operation);
  }
  return later;
}

Result<RunFiles> files_of_run(const Workspace& workspace, Journal& journal, const SessionId& run,
                              RunInUse use) {
  const auto log = read_log(journal, run);
  if (!log) return fail(log.error());
  RunFiles files;
  files.run = run;
  files.records = log->records;
  if (!workspace.in_file()) return files;
  auto history = open_file_history(workspace, false);
  if (!history && history.error().kind() == ErrorKind::kNotFound) return files;
  if (!history) return fail(std::move(history.error()));
  files.history = *std::move(history);
  std::map<SessionId, std::uint64_t> sessions{{run, 0}};
  for (const auto& [child, seq] : log->children) {
    sessions.try_emplace(child, seq);
    if (auto added = add_children(journal, child, seq, 1, sessions); !added) return fail(added.error());
  }
  for (const auto& [session, seq] : sessions) files.sessions.push_back(session);
  if (use == RunInUse::kNo) {
    if (auto ended = end_left(files); !ended) return fail(ended.error());
  }
  auto operations = files.history->operations(files.sessions);
  if (!operations) return fail(std::move(operations.error()));
  files.operations = *std::move(operations);
  for (const FileOperation& operation : files.operations) {
    const auto effect = log->effects.find(operation.effect);
    const bool is_own = operation.session == run;
    files.places[operation.id] = !is_own                        ? sessions[operation.session]
                                 : operation.is_restore()       ? operation.after + 1
                                 : effect == log->effects.end() ? log->records
                                                                : effect->second;
  }
  return files;
}

Result<std::vector<FileDiff>> file_diffs(FileHistory& history, const std::vector<FileOperation>& operations,
                                         DiffForm form) {
  auto steps = net_changes(history, operations);
  if (!steps) return fail(std::move(steps.error()));
  std::vector<FileDiff> diffs;
  for (RestoreStep& step : *steps) {
    if (step.change.before == step.change.after || is_folder(step.change)) continue;
    FileDiff diff;
    diff.step = std::move(step);
    diff.name = shown_name(diff.step.change.path);
    diff.status = file_status(diff.step.change);
    if (diff.status != "not_kept") {
      if (auto added = add_lines(history, form, diff); !added) return fail(added.error());
    }
    diffs.push_back(std::move(diff));
  }
  return diffs;
}

Result<std::vector<RestoreStep>> plan_of(const RunFiles& files, const UndoRequest& request) {
  if (!files.history) return std::vector<RestoreStep>{};
  if (!request.redo) return plan_undo(*files.history, files.after(request.after));
  const FileOperation* undo = last_undo(files.operations);
  if (undo == nullptr)
    return fail(usage_error("the last change of files by this run is no undo that could be taken back",
                            "praxis undo ID takes back what the run changed"));
  return plan_undo(*files.history, {*undo});
}

Status restore_files(const RunFiles& files, const UndoRequest& request, std::vector<RestoreStep>& plan,
                     UnixMillis now) {
  if (!files.history) return {};
  FileOperation operation;
  operation.session = files.run;
  operation.tool = request.redo ? kRedoOperation : kUndoOperation;
  operation.time = now;
  operation.after = files.records;
  return carry_out(*files.history, operation, plan);
}

RestoreCounts counts_of(const std::vector<RestoreStep>& plan) {
  RestoreCounts counts;
  for (const RestoreStep& step : plan) {
    if (is_folder(step.change)) continue;
    if (step.verdict == RestoreVerdict::kRestore) ++counts.restored;
    if (is_conflict(step.verdict)) ++counts.conflicts;
  }
  return counts;
}

std::vector<std::string> restore_lines(const std::vector<RestoreStep>& plan, bool done) {
  std::vector<std::string> lines;
  for (const RestoreStep& step : plan) {
    if (is_folder(step.change) || step.verdict == RestoreVerdict::kSame) continue;
    lines.push_back(action_of(step, done) + exact(shown_name(step.change.path)) +
                    verdict_reason(step.verdict));
  }
  return lines;
}

Json to_json(const RestoreStep& step) {
  const bool removes = step.change.before.kind == Kind::kMissing;
  return JsonObject{{"path", step.change.path},
                    {"action", removes ? "remove" : "restore"},
                    {"verdict", std::string(to_string(step.verdict))}};
}

RestoreStep restore_step_from(const Json& json) {
  RestoreStep step;
  step.change.path = json_string(json, "path");
  const bool removes = json_string(json, "action") == "remove";
  step.change.before.kind = removes ? Kind::kMissing : Kind::kFile;
  step.change.after.kind = Kind::kFile;
  // What a newer server may say beyond these stays untouched, too.
  step.verdict = restore_verdict(json_string(json, "verdict")).value_or(RestoreVerdict::kRefused);
  return step;
}

bool is_folder_step(const RestoreStep& step) { return is_folder(step.change); }

Result<std::vector<RestoreStep>> undo_in_files(const Workspace& workspace, Journal& journal,
                                               const SessionId& run, RunInUse use, const UndoRequest& request,
                                               UndoAct act, UnixMillis now) {
  const auto files = files_of_run(workspace, journal, run, use);
  if (!files) return fail(files.error());
  auto plan = plan_of(*files, request);
  if (!plan || act == UndoAct::kPlan) return plan;
  if (auto done = restore_files(*files, request, *plan, now); !done) return fail(done.error());
  return plan;
}

HeldRun::HeldRun(std::shared_ptr<Journal> journal, const SessionId& run)
    : journal_(std::move(journal)), lease_(journal_->acquire(run)) {}

HeldRun::~HeldRun() {
  if (lease_) journal_->release(*lease_);
}

Result<std::uint64_t> record_before_turn(const std::vector<StoredRecord>& records, const TurnId& turn) {
  for (auto each = records.rbegin(); each != records.rend(); ++each) {
    const auto* started = std::get_if<records::TurnStarted>(&each->record.body);
    if (started != nullptr && started->turn == turn) return each->seq - 1;
  }
  return fail(usage_error("the run has no turn " + in_quotes(turn.str()), "praxis show lists the turns"));
}

Status forget_removed_runs(const Workspace& workspace, Journal& journal) {
  if (!workspace.in_file()) return {};
  const auto history = open_file_history(workspace, false);
  if (!history && history.error().kind() == ErrorKind::kNotFound) return {};
  if (!history) return fail(history.error());
  const auto known = (*history)->sessions();
  if (!known) return fail(known.error());
  std::vector<SessionId> gone;
  for (const SessionId& session : *known) {
    const auto row = journal.session(session);
    if (!row && row.error().kind() == ErrorKind::kNotFound) gone.push_back(session);
  }
  return gone.empty() ? Status{} : (*history)->forget(gone);
}

}  // namespace praxis::app
