// `diff` and `undo`: what a run changed in files.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/run_files.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/fork_point.hpp"
#include "cli/place.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/base/utf8.hpp"

namespace praxis::cli {
namespace {

app::RunInUse use_of(const app::StoredSession& stored) {
  return app::is_held(*stored.journal, stored.id) ? app::RunInUse::kYes : app::RunInUse::kNo;
}

/// A run, the record after which something is asked, and its files.
struct AskedFiles {
  app::StoredSession stored;
  std::uint64_t after = 0;
  app::RunFiles files;
};

Result<AskedFiles> asked_files(const app::Workspace& workspace, const std::string& id) {
  const auto point = fork_point(id);
  if (!point) return fail(point.error());
  auto stored = app::open_session(workspace, point->id, app::JournalUse::kWrite);
  if (!stored) return fail(stored.error());
  const auto after = point->is_given() ? seq_of_point(stored->records, *point) : Result<std::uint64_t>(0);
  if (!after) return fail(after.error());
  auto files = app::files_of_run(workspace, *stored->journal, stored->id, use_of(*stored));
  if (!files) return fail(files.error());
  return AskedFiles{*std::move(stored), *after, *std::move(files)};
}

std::string stat_line(const app::FileDiff& diff) {
  const std::string name = app::exact(diff.name);
  if (diff.status == "not_kept") return fmt::format(" {} | not kept", name);
  if (diff.binary) return fmt::format(" {} | binary, {}", name, diff.status);
  return fmt::format(" {} | +{} -{}{}", name, diff.added, diff.removed,
                     diff.status == "modified" ? "" : ", " + diff.status);
}

JsonObject diff_fields(const app::FileDiff& diff) {
  std::string text;
  for (const std::string& line : diff.lines) text += line + '\n';
  return {{"path", diff.step.change.path}, {"status", diff.status},   {"binary", diff.binary},
          {"added", diff.added},           {"removed", diff.removed}, {"diff", repair_utf8(text)}};
}

void show_diff(const app::FileDiff& diff, const DiffOptions& options, Console& console) {
  if (options.json) return console.item("changed_file", diff_fields(diff));
  if (options.stat) return console.out.line(stat_line(diff));
  if (diff.status == "not_kept") return console.err.line("not kept: " + app::exact(diff.name));
  for (const std::string& line : diff.lines) console.out.line(line);
}

void show_plan(const std::vector<RestoreStep>& plan, bool done, bool json, Console& console) {
  if (json) {
    for (const RestoreStep& step : plan) console.item("changed_file", app::to_json(step).get_object());
    return;
  }
  for (const std::string& line : app::restore_lines(plan, done)) console.out.line(line);
}

std::string files_count(std::size_t count) { return fmt::format("{} file{}", count, count == 1 ? "" : "s"); }

}  // namespace

Result<FilesRestored> restore_run_files(const app::Workspace& workspace, const app::StoredSession& stored,
                                        const app::UndoRequest& request, const RestoreAsk& ask,
                                        Console& console) {
  const app::HeldRun held(stored.journal, stored.id);
  if (auto status = held.status(); !status && !ask.dry_run)
    return fail(app::with_hint(status.error(), "praxis tree stop " + stored.id.str()));
  auto files = app::files_of_run(workspace, *stored.journal, stored.id,
                                 held.status() ? app::RunInUse::kNo : app::RunInUse::kYes);
  if (!files) return fail(files.error());
  auto plan = app::plan_of(*files, request);
  if (!plan) return fail(plan.error());
  const bool asks = !ask.dry_run && !ask.yes && can_confirm() && app::counts_of(*plan).restored > 0;
  if (asks) {
    for (const std::string& line : app::restore_lines(*plan, false)) console.err.line(line);
    const std::string count = files_count(app::counts_of(*plan).restored);
    if (!confirmed(fmt::format("Change {}?", count), console))
      return fail(app::usage_error("no file was changed"));
  }
  if (!ask.dry_run) {
    const auto now = system_environment()->now();
    if (auto done = app::restore_files(*files, request, *plan, now); !done) return fail(done.error());
  }
  if (ask.quiet) {
    for (const std::string& line : app::restore_lines(*plan, true)) console.err.line(line);
  } else {
    show_plan(*plan, !ask.dry_run, ask.json, console);
  }
  const auto counts = app::counts_of(*plan);
  if (!ask.json) {
    console.err.line(
        fmt::format("{} {}{}", files_count(counts.restored), ask.dry_run ? "would change" : "changed",
                    counts.conflicts == 0 ? "" : fmt::format(", {} left as they are", counts.conflicts)));
  }
  return FilesRestored{counts.restored, counts.conflicts};
}

Result<ExitStatus> execute(const DiffOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto asked = asked_files(*workspace, options.id);
  if (!asked) return fail(asked.error());
  const bool is_safe = console.terminal.out || options.stat;
  std::vector<app::FileDiff> diffs;
  if (asked->files.history) {
    auto all = app::file_diffs(*asked->files.history, asked->files.after(asked->after),
                               is_safe ? app::DiffForm::kSafe : app::DiffForm::kExact);
    if (!all) return fail(all.error());
    diffs = *std::move(all);
  }
  std::size_t added = 0, removed = 0;
  for (const app::FileDiff& diff : diffs) {
    added += diff.added;
    removed += diff.removed;
    show_diff(diff, options, console);
  }
  console.result({{"run_id", asked->stored.id.str()},
                  {"changed_files", diffs.size()},
                  {"added", added},
                  {"removed", removed}});
  if (!options.json && (options.stat || diffs.empty()))
    console.err.line(fmt::format("{} changed, +{} -{}", files_count(diffs.size()), added, removed));
  return ExitStatus::kFinished;
}

Result<ExitStatus> execute(const UndoOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  if (!options.to.empty() && options.id.find('@') != std::string::npos)
    return fail(app::usage_error("@STEP and --to exclude each other; give one"));
  const auto point = fork_point(options.to.empty() ? options.id : options.id + '@' + options.to);
  if (!point) return fail(point.error());
  if (point->is_given() && options.redo)
    return fail(app::usage_error("--redo takes the last undo back as a whole; it takes no step"));
  const auto stored = app::open_session(*workspace, point->id, app::JournalUse::kWrite);
  if (!stored) return fail(stored.error());
  const auto after = point->is_given() ? seq_of_point(stored->records, *point) : Result<std::uint64_t>(0);
  if (!after) return fail(after.error());
  const RestoreAsk ask{options.dry_run, options.yes || options.json, options.json};
  const auto done = restore_run_files(*workspace, *stored, {*after, options.redo}, ask, console);
  if (!done) return fail(done.error());
  console.result({{"run_id", stored->id.str()},
                  {"dry_run", options.dry_run},
                  {"changed", done->changed},
                  {"conflicts", done->conflicts}});
  return done->conflicts == 0 ? ExitStatus::kFinished : ExitStatus::kFailed;
}

}  // namespace praxis::cli
