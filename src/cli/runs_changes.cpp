// `runs name`, `tag`, `rm` and `prune`: what users call their runs, and removing them.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/run_files.hpp"
#include "app/run_list.hpp"
#include "app/values.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/journal/postgres_journal.hpp"

namespace praxis::cli {
namespace {

constexpr std::chrono::seconds kOthersClose{2};
constexpr std::size_t kShownRuns = 10;  ///< in the question
constexpr std::size_t kTitleColumns = 50;

/// What is removed, and what stays of that which fits.
struct Removal {
  struct Run {
    SessionId id;
    std::string title;
    std::size_t sessions = 1;
  };
  std::vector<Run> runs;
  std::size_t sub_agents = 0, unfinished = 0;
  std::size_t in_use = 0, named = 0;  ///< stay

  void add(const app::ListedRun& run) {
    runs.push_back({run.row.id, run.row.name.empty() ? run.row.title : run.row.name, run.sessions});
    sub_agents += run.sessions - 1;
    const auto is = [&](SessionStatus status) { return run.row.status == to_string(status); };
    if (is(SessionStatus::kAwaitingUser) || is(SessionStatus::kInterrupted) || is(SessionStatus::kRunning))
      ++unfinished;
  }
};

/// `1 run`, `2 runs`.
std::string counted(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string show_bytes(std::uint64_t bytes) {
  constexpr double kMega = 1e6;
  const auto number = static_cast<double>(bytes);
  return number < kMega ? fmt::format("{:.0f} kB", number / 1e3) : fmt::format("{:.1f} MB", number / kMega);
}

/// The run that `typed` names.
Result<app::ListedRun> run_with(const std::shared_ptr<Journal>& journal, const std::string& typed) {
  const auto id = find_session(*journal, typed);
  if (!id) return fail(app::with_hint(id.error(), "praxis runs lists them"));
  const auto root = app::root_of(*journal, *id);
  if (!root) return fail(root.error());
  if (*root != *id) {
    return fail(app::usage_error(fmt::format("{} is a sub-agent; it goes with its run", id->str()),
                                 "praxis runs rm " + root->str()));
  }
  return app::listed_run(journal, *id);
}

Result<Removal> chosen_runs(const std::shared_ptr<Journal>& journal, const RunsRemoveOptions& options) {
  Removal removal;
  for (const std::string& typed : options.ids) {
    const auto run = run_with(journal, typed);
    if (!run) return fail(run.error());
    if (run->held) {
      return fail(
          app::usage_error(fmt::format("a process has {} open; nothing is removed", run->row.id.str()),
                           "praxis tree stop " + run->row.id.str()));
    }
    if (std::ranges::count(removal.runs, run->row.id, &Removal::Run::id) == 0) removal.add(*run);
  }
  if (!options.ids.empty()) return removal;
  const auto read = app::for_each_run(journal, options.filter, app::Sessions::kRoots,
                                      system_environment()->now(), [&](const app::ListedRun& run) {
                                        const bool is_kept = !run.row.name.empty() && !options.named;
                                        if (run.held)
                                          ++removal.in_use;
                                        else if (is_kept)
                                          ++removal.named;
                                        else
                                          removal.add(run);
                                        return true;
                                      });
  if (!read) return fail(read.error());
  return removal;
}

std::string shown_line(const Removal::Run& run) {
  const std::string below = run.sessions == 1 ? "" : " (with " + counted(run.sessions - 1, "sub-agent") + ")";
  return fmt::format("  {}  {}{}", run.id.str(), app::one_line(run.title, kTitleColumns), below);
}

/// Says what would go, and what stays.
void describe(const Removal& removal, std::size_t most, Stream& to) {
  for (std::size_t i = 0; i < std::min(most, removal.runs.size()); ++i) to.line(shown_line(removal.runs[i]));
  if (removal.runs.size() > most) to.line(fmt::format("  ... and {} more", removal.runs.size() - most));
}

void describe_kept(const Removal& removal, Console& console) {
  if (removal.in_use > 0) console.err.line(counted(removal.in_use, "run") + " that a process has open: kept");
  if (removal.named > 0)
    console.err.line(counted(removal.named, "run") + " with a name: kept; --named removes them too");
}

/// Error `kInput` if the user does not agree.
Status agreed(const Removal& removal, const RunsRemoveOptions& options, Console& console) {
  if (options.yes) return {};
  if (!can_confirm()) {
    return fail(app::usage_error("runs are removed for good: confirm with --yes",
                                 "--dry-run lists what would be removed"));
  }
  describe(removal, kShownRuns, console.err);
  const std::string below =
      removal.sub_agents == 0 ? "" : " with " + counted(removal.sub_agents, "sub-agent");
  const std::string open =
      removal.unfinished == 0 ? "" : fmt::format(", {} of them unfinished", removal.unfinished);
  if (confirmed(fmt::format("Remove {}{}{} for good?", counted(removal.runs.size(), "run"), below, open),
                console))
    return {};
  return fail(app::usage_error("nothing is removed"));
}

/// What the removal has done.
struct Removed {
  std::size_t runs = 0, sessions = 0;
  std::uint64_t freed = 0;  ///< bytes by which the file shrank
};

JsonObject removal_fields(const Removal& removal, const Removed& removed, bool dry_run) {
  return {{"dry_run", dry_run},
          {"removed", removed.runs},
          {"sessions", removed.sessions},
          {"kept", removal.in_use + removal.named},
          {"freed_bytes", removed.freed}};
}

void item_of(const Removal::Run& run, Console& console) {
  console.item("removed_run", {{"id", run.id.str()}, {"title", run.title}, {"sessions", run.sessions}});
}

/// Removes the runs one after the other, then the blobs that they leave, then the free space of the file.
Result<Removed> remove_all(const Removal& removal, const app::Workspace& workspace, bool json,
                           Console& console) {
  Removed done;
  {
    auto journal = app::open_journal(workspace, app::JournalUse::kWrite);
    if (!journal) return fail(journal.error());
    for (const Removal::Run& run : removal.runs) {
      const auto sessions = (*journal)->remove(run.id);
      if (!sessions && sessions.error().kind() == ErrorKind::kNotFound) continue;  // by another process
      if (!sessions) return fail(app::with_hint(sessions.error(), "praxis tree stop " + run.id.str()));
      ++done.runs;
      done.sessions += *sessions;
      if (json) item_of(run, console);
    }
    if (auto swept = (*journal)->sweep(); !swept) return fail(swept.error());
    if (auto gone = app::forget_removed_runs(workspace, **journal); !gone) return fail(gone.error());
  }
  await_closed_journals(kOthersClose);
  if (is_postgres_address(workspace.journal)) return done;  // the server uses the space again
  const auto freed = shrink_journal(workspace.journal);
  if (!freed) {
    console.err.line(
        fmt::format("praxis: the runs are removed, but the file keeps its size: {}", freed.error().message));
    return done;
  }
  done.freed = *freed;
  return done;
}

}  // namespace

Result<ExitStatus> execute(const RunsLabelOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto stored = app::open_session(*workspace, options.id, app::JournalUse::kWrite);
  if (!stored) return fail(stored.error());
  if (auto changed = stored->journal->label(stored->id, options.change); !changed) {
    const bool is_taken = changed.error().kind() == ErrorKind::kExists;
    return fail(is_taken ? app::usage_error(changed.error().message, "praxis runs unname takes it from there")
                         : app::with_hint(changed.error(), "praxis runs --help"));
  }
  const auto row = stored->journal->session(stored->id);
  if (!row) return fail(row.error());
  JsonArray tags;
  std::string text = row->name.empty() ? "no name" : "name " + row->name;
  for (const std::string& tag : row->tags) {
    tags.emplace_back(tag);
    text += " #" + tag;
  }
  console.result({{"run_id", stored->id.str()},
                  {"name", row->name.empty() ? Json(nullptr) : Json(row->name)},
                  {"tags", std::move(tags)}});
  console.err.line(fmt::format("{}: {}", stored->id.str(), text));
  return ExitStatus::kFinished;
}

Result<ExitStatus> execute(const RunsRemoveOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  Removal removal;
  {
    const auto journal = app::open_journal(*workspace, app::JournalUse::kLook);
    if (!journal) return fail(journal.error());
    auto chosen = chosen_runs(*journal, options);
    if (!chosen) return fail(chosen.error());
    removal = *std::move(chosen);
  }
  describe_kept(removal, console);
  console.result(removal_fields(removal, {}, options.dry_run));
  if (removal.runs.empty()) {
    console.err.line("no run to remove");
    return ExitStatus::kFinished;
  }
  if (options.dry_run) {
    if (!options.json) describe(removal, removal.runs.size(), console.out);
    for (const Removal::Run& run : removal.runs) {
      if (options.json) item_of(run, console);
    }
    return ExitStatus::kFinished;
  }
  if (auto agreement = agreed(removal, options, console); !agreement) return fail(agreement.error());
  const auto done = remove_all(removal, *workspace, options.json, console);
  if (!done) return fail(done.error());
  console.result(removal_fields(removal, *done, false));
  const std::size_t below = done->sessions - done->runs;
  console.err.line(fmt::format("removed {}{}; {}", counted(done->runs, "run"),
                               below == 0 ? "" : " with " + counted(below, "sub-agent"),
                               done->freed > 0 ? "the journal is " + show_bytes(done->freed) + " smaller"
                                               : "the journal uses their space for later runs"));
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
