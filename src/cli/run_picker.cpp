#include "cli/run_picker.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/run_list.hpp"
#include "app/values.hpp"
#include "base/columns.hpp"
#include "cli/line_input.hpp"
#include "cli/terminal.hpp"
#include "tui/picker.hpp"
#include "tui/run_choices.hpp"

namespace praxis::cli {
namespace {

constexpr std::size_t kMostOffered = 9;  // so that one digit chooses

Error no_run_named(std::string hint) {
  return app::usage_error("which run? Name it by its id, its name or as last", std::move(hint));
}

Result<std::vector<SessionRow>> offered_runs(const app::Workspace& workspace, UnixMillis now) {
  std::vector<SessionRow> offered;
  auto journal = app::open_journal(workspace, app::JournalUse::kLook);
  if (!journal && journal.error().kind() == ErrorKind::kNotFound) return offered;
  if (!journal) return fail(journal.error());
  const auto read =
      app::for_each_run(*journal, {}, app::Sessions::kRoots, now, [&](const app::ListedRun& run) {
        if (!run.held) offered.push_back(run.row);
        return offered.size() < kMostOffered;
      });
  if (!read) return fail(read.error());
  return offered;
}

void show(const std::vector<SessionRow>& offered, UnixMillis now, Console& console) {
  const std::size_t columns = terminal_size(STDERR_FILENO).columns;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    const SessionRow& row = offered[i];
    const std::string start =
        fmt::format("{}  {:13}  {:>8}  ", i + 1, row.status, app::show_age(now - row.created));
    const std::string what = row.name.empty() ? row.title : "[" + row.name + "] " + row.title;
    const std::size_t used = columns_of(start);
    console.err.line(start + app::one_line(what, columns > used ? columns - used : 1));
  }
}

/// The place in the list that a line names.
std::optional<std::size_t> chosen(const std::string& line, std::size_t count) {
  std::size_t number = 0;
  const auto read = std::from_chars(line.data(), line.data() + line.size(), number);
  const bool is_number = read.ec == std::errc() && read.ptr == line.data() + line.size();
  return is_number && number >= 1 && number <= count ? std::optional(number - 1) : std::nullopt;
}

/// All runs, to be searched, on a terminal that can be redrawn.
Result<std::string> searched_run(const app::Workspace& workspace, Console& console) {
  std::vector<SessionRow> rows;
  auto journal = app::open_journal(workspace, app::JournalUse::kLook);
  if (!journal && journal.error().kind() != ErrorKind::kNotFound) return fail(journal.error());
  if (journal) {
    auto read = (*journal)->sessions();
    if (!read) return fail(read.error());
    rows = *std::move(read);
  }
  auto choices = tui::run_choices(rows, system_environment()->now());
  if (choices.empty()) return fail(no_run_named("no run can be resumed yet"));
  auto picked =
      tui::pick_at_terminal(tui::Picker("Resume which run?", std::move(choices)),
                            tui::Styles{console.terminal.out_color ? tui::Theme::kAnsi : tui::Theme::kNone});
  if (!picked) return fail(picked.error());
  if (!*picked) return fail(no_run_named("praxis runs lists the runs"));
  return **std::move(picked);
}

}  // namespace

Result<std::string> pick_run(const app::Workspace& workspace, Console& console) {
  if (!can_confirm() || !console.terminal.err) return fail(no_run_named("praxis runs lists the runs"));
  if (console.terminal.out_live) return searched_run(workspace, console);
  const UnixMillis now = system_environment()->now();
  const auto offered = offered_runs(workspace, now);
  if (!offered) return fail(offered.error());
  if (offered->empty()) return fail(no_run_named("no run can be resumed yet"));
  show(*offered, now, console);
  LineInput input;
  for (;;) {
    console.err.write(offered->size() == 1 ? "Which run? [1, Enter: none] "
                                           : fmt::format("Which run? [1-{}, Enter: none] ", offered->size()));
    const auto line = input.read({});
    if (!line || line->empty()) return fail(no_run_named("praxis runs lists the runs"));
    if (const auto place = chosen(*line, offered->size())) return (*offered)[*place].id.str();
  }
}

}  // namespace praxis::cli
