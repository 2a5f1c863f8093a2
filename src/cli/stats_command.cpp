// `stats`: measures the runs of the journal.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/plain_text.hpp"
#include "app/run_stats.hpp"
#include "app/stats_page.hpp"
#include "app/values.hpp"
#include "base/columns.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"
#include "praxis/base/environment.hpp"

namespace praxis::cli {
namespace {

constexpr std::size_t kWidestLine = 100;  // columns where there is no terminal

std::string times_of(const app::EffectStats& stats) {
  if (stats.calls == 0) return "-";
  return app::show_duration(stats.percentile(app::kMedian)) + ", " +
         app::show_duration(stats.percentile(app::kUsualMost));
}

/// The whole time, and what it was for.
std::string waited_text(const app::WaitingTime& waiting) {
  std::string text = app::show_duration(waiting.total()), parts;
  constexpr std::array<const char*, app::kAllWaits.size()> kNames{"people", "timers", "sub-agents",
                                                                  "retries"};
  for (const app::WaitsFor what : app::kAllWaits) {
    if (waiting.of(what).count() == 0) continue;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", kNames.at(static_cast<std::size_t>(what)),
                         app::show_duration(waiting.of(what)));
  }
  return parts.empty() ? text : text + " (" + parts + ")";
}

/// All figures of one row, a line each.
std::vector<std::string> figures(const app::StatsRow& row) {
  std::vector<std::string> lines;
  const auto add = [&](std::string_view name, const std::string& value) {
    lines.push_back(fmt::format("{:<15}{}", name, value));
  };
  add("turns", fmt::format("{}, {} finished", row.turns, app::rate_text(row.finished, row.turns)));
  add("steps", fmt::format("{}", row.steps));
  add("model calls",
      fmt::format("{}, {} failed, {} retries", row.model.calls, row.model.errors, row.model.retries));
  add("  median, p95", times_of(row.model));
  add("tool calls",
      fmt::format("{}, {} failed, {} retries", row.tool.calls, row.tool.errors, row.tool.retries));
  add("  median, p95", times_of(row.tool));
  add("tokens", fmt::format("{} in, {} out", row.usage.input, row.usage.output));
  add("from cache", fmt::format("{}, {}", row.usage.cache_read,
                                app::rate_text(static_cast<std::uint64_t>(row.usage.cache_read),
                                               static_cast<std::uint64_t>(row.usage.input))));
  add("cost", app::cost_text(row));
  add("waited", waited_text(row.waiting));
  return lines;
}

/// A table whose last columns give way to the first where the screen is narrow.
std::vector<std::string> table(const std::vector<app::StatsRow>& rows, app::StatsBy by, std::size_t columns) {
  using Cells = std::vector<std::string>;
  const bool is_tools = by == app::StatsBy::kTool;
  std::vector<Cells> lines{is_tools
                               ? Cells{"TOOL", "CALLS", "FAILED", "MEDIAN", "P95", "RETRIES"}
                               : Cells{"", "TURNS", "OK", "COST", "TOKENS", "STEPS", "CALLS", "RETRIES"}};
  const std::array<const char*, 6> heads{"", "AGENT", "MODEL", "TOOL", "DAY", "TENANT"};
  lines[0][0] = heads.at(static_cast<std::size_t>(by));
  for (const app::StatsRow& row : rows) {
    const std::string name = row.name.empty() ? "-" : app::one_line(row.name, 40);
    if (is_tools) {
      lines.push_back({name, fmt::format("{}", row.tool.calls), fmt::format("{}", row.tool.errors),
                       app::show_duration(row.tool.percentile(app::kMedian)),
                       app::show_duration(row.tool.percentile(app::kUsualMost)),
                       fmt::format("{}", row.tool.retries)});
    } else {
      lines.push_back({name, fmt::format("{}", row.turns), app::rate_text(row.finished, row.turns),
                       app::cost_text(row), fmt::format("{}", row.usage.total()),
                       fmt::format("{}", row.steps), fmt::format("{}", row.tool.calls),
                       fmt::format("{}", row.model.retries)});
    }
  }
  constexpr std::size_t kGap = 2, kLeastName = 8;
  std::vector<std::size_t> widths(lines[0].size());
  for (const Cells& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], columns_of(cells[i]));
  }
  std::size_t shown = 1, used = std::min(widths[0], kLeastName);
  while (shown < widths.size() && used + kGap + widths[shown] <= columns) used += kGap + widths[shown++];
  const std::size_t more = columns > used ? columns - used : 0;
  const std::size_t name_width = std::min(widths[0], std::min(widths[0], kLeastName) + more);
  std::vector<std::string> out;
  for (const Cells& cells : lines) {
    std::string line = padded(cut_to(cells[0], name_width), name_width);
    for (std::size_t i = 1; i < shown; ++i) line += "  " + padded_left(cells[i], widths[i]);
    out.push_back(std::move(line));
  }
  return out;
}

/// The tables of the page.
constexpr std::array kPageTables{app::StatsBy::kAll,  app::StatsBy::kAgent, app::StatsBy::kModel,
                                 app::StatsBy::kTool, app::StatsBy::kDay,   app::StatsBy::kTenant};

Status write_page(const std::string& path, const app::StatsQuestion& times, const app::StatsReport& report) {
  const std::string until = to_iso8601(times.until);
  const std::string text = times.from.value == 0
                               ? "What ended until " + until + "."
                               : "What ended from " + to_iso8601(times.from) + " until " + until + ".";
  return write_file(path, app::stats_page(text, report));
}

}  // namespace

Result<ExitStatus> execute(const StatsOptions& options, Console& console) {
  // The folder of the journal may be another one.
  const std::string page = options.html.empty() ? "" : std::filesystem::absolute(options.html).string();
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto journal = journal_to_look_at(*workspace, console);
  if (!journal) return fail(journal.error());
  if (!*journal) return ExitStatus::kFinished;
  const UnixMillis now = system_environment()->now();
  const UnixMillis from = options.since ? UnixMillis{now.value - options.since->count()} : UnixMillis{};
  app::StatsQuestion question{{options.by}, from, now + Millis{1}};
  if (!page.empty()) question.by = {kPageTables.begin(), kPageTables.end()};
  const auto report = app::run_stats(**journal, question, app::Redactions(*workspace));
  if (!report) return fail(report.error());
  if (!page.empty()) {
    if (auto written = write_page(page, question, *report); !written) return fail(written.error());
  }
  const auto& rows = std::ranges::find(report->tables, options.by, &app::StatsTable::by)->rows;
  console.result({{"complete", report->is_complete}});
  if (!report->is_complete)
    console.err.line("praxis: warning: there are older runs, which are left out; --since bounds the time");
  if (options.json) {
    for (const app::StatsRow& row : rows) console.item("stats", app::stats_json(row));
    return ExitStatus::kFinished;
  }
  const std::size_t columns = console.terminal.out ? terminal_size(STDOUT_FILENO).columns : kWidestLine;
  const auto lines =
      options.by == app::StatsBy::kAll ? figures(rows.front()) : table(rows, options.by, columns);
  for (const std::string& line : lines) console.out.line(line);
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
