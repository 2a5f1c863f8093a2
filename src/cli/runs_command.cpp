// `runs`: lists the runs of the journal.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "app/envelope.hpp"
#include "app/plain_text.hpp"
#include "app/run_list.hpp"
#include "app/values.hpp"
#include "app/workspace.hpp"
#include "base/columns.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"
#include "praxis/base/environment.hpp"

namespace praxis::cli {
namespace {

constexpr std::size_t kShortId = 8;     ///< characters at the end of an id
constexpr std::size_t kMostAgent = 16;  ///< columns
constexpr std::size_t kLeastTitle =
    20;  ///< columns that the title keeps when there are more than the first ones
constexpr std::size_t kWholeTitle = 80;

JsonObject row_json(const app::ListedRun& listed) {
  JsonObject json = app::program_json(listed);
  json["duration_ms"] = listed.duration ? Json(listed.duration->count()) : Json(nullptr);
  json["parent"] = listed.row.parent.empty() ? Json(nullptr) : Json(listed.row.parent.str());
  return json;
}

/// The number of characters at the end of an id with which each of these ids differs from all others.
std::size_t distinct_length(const std::vector<SessionRow>& rows) {
  const auto ends = [&](std::size_t length) {
    std::vector<std::string_view> all;
    for (const SessionRow& row : rows) {
      const std::string_view id = row.id.str();
      all.push_back(id.substr(id.size() - std::min(id.size(), length)));
    }
    return all;
  };
  for (std::size_t length = kShortId;; length += 2) {
    auto all = ends(length);
    std::ranges::sort(all);
    const bool is_whole = length > 64;
    if (is_whole || std::ranges::adjacent_find(all) == all.end()) return length;
  }
}

std::string show_time(const app::ListedRun& run) {
  return run.duration ? app::show_duration(*run.duration) : "?";
}

/// Name, title and tags.
std::string title_of(const SessionRow& row) {
  std::string title = row.name.empty() ? "" : fmt::format("[{}] ", row.name);
  title += row.title;
  for (const std::string& tag : row.tags) title += " #" + tag;
  return title;
}

/// The line for other programs: everything, whole.
std::string whole_line(const app::ListedRun& run) {
  const SessionRow& row = run.row;
  const std::string whose = row.parent.empty() ? "" : fmt::format("(for {}) ", row.parent.str());
  return fmt::format("{}  {}  {:13}  {}  {}  {}  {}  {}", row.id.str(), to_iso8601(row.created), row.status,
                     app::one_line(row.agent, kWholeTitle), app::one_line(row.model, kWholeTitle),
                     app::show_cost(run.usage), show_time(run),
                     app::one_line(whose + title_of(row), kWholeTitle));
}

/// The runs in columns that fit a screen. Cost, agent and duration give way to the title when it is narrow.
class Table {
 public:
  Table(std::size_t id_length, UnixMillis now) : id_length_(id_length), now_(now) {}

  void add(const app::ListedRun& run) {
    const SessionRow& row = run.row;
    const std::string whose = row.parent.empty() ? "" : fmt::format("(for {}) ", short_id(row.parent));
    rows_.push_back({short_id(row.id), app::show_age(now_ - row.created), row.status,
                     app::one_line(row.agent, kMostAgent), app::show_cost(run.usage), show_time(run),
                     whose + title_of(row)});
  }

  std::vector<std::string> lines(std::size_t width) const {
    Cells widths{};
    for (const Row& row : rows_) {
      for (std::size_t i = 0; i < kTitle; ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
    }
    std::array<bool, kColumns> is_shown{};
    std::size_t used = 0;
    for (const std::size_t column : kByImportance) {
      const std::size_t more = widths[column] + kGap;
      is_shown[column] = column <= kStatus || used + more + kLeastTitle <= width;
      if (is_shown[column]) used += more;
    }
    std::vector<std::string> lines;
    for (const Row& row : rows_)
      lines.push_back(line(row, widths, is_shown, width > used ? width - used : 0));
    return lines;
  }

 private:
  static constexpr std::size_t kColumns = 7, kStatus = 2, kAgent = 3, kCost = 4, kTime = 5, kTitle = 6;
  static constexpr std::size_t kGap = 2;
  static constexpr std::array<std::size_t, 6> kByImportance{0, 1, kStatus, kCost, kAgent, kTime};
  using Row = std::array<std::string, kColumns>;
  using Cells = std::array<std::size_t, kColumns>;

  std::string short_id(const SessionId& id) const {
    const std::string& whole = id.str();
    return whole.substr(whole.size() - std::min(whole.size(), id_length_));
  }

  static std::string line(const Row& row, const Cells& widths, const std::array<bool, kColumns>& is_shown,
                          std::size_t room) {
    std::string text;
    for (std::size_t i = 0; i < kTitle; ++i) {
      if (!is_shown[i]) continue;
      const bool is_number = i == 1 || i == kCost || i == kTime;
      text += (is_number ? padded_left(row[i], widths[i]) : padded(row[i], widths[i])) + "  ";
    }
    return text + app::one_line(row[kTitle], room);
  }

  const std::size_t id_length_;
  const UnixMillis now_;
  std::vector<Row> rows_{{"ID", "AGE", "STATUS", "AGENT", "COST", "TIME", "TITLE"}};
};

Status list_on_screen(const std::shared_ptr<Journal>& journal, const RunsOptions& options, UnixMillis now,
                      Console& console) {
  const auto all = journal->sessions();
  if (!all) return fail(all.error());
  Table table(distinct_length(*all), now);
  std::size_t listed = 0;
  auto read =
      app::for_each_run(journal, options.filter, options.all ? app::Sessions::kAll : app::Sessions::kRoots,
                        now, [&](const app::ListedRun& run) {
                          table.add(run);
                          return ++listed != options.count;
                        });
  if (!read) return read;
  for (const std::string& line : table.lines(terminal_size(STDOUT_FILENO).columns)) console.out.line(line);
  return {};
}

}  // namespace

Result<ExitStatus> execute(const RunsOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto journal = journal_to_look_at(*workspace, console);
  if (!journal) return fail(journal.error());
  if (!*journal) return ExitStatus::kFinished;
  const UnixMillis now = system_environment()->now();
  if (console.terminal.out && !options.json) {
    if (auto listed = list_on_screen(*journal, options, now, console); !listed) return fail(listed.error());
    return ExitStatus::kFinished;
  }
  std::size_t listed = 0;
  const auto read = app::for_each_run(
      *journal, options.filter, options.all ? app::Sessions::kAll : app::Sessions::kRoots, now,
      [&](const app::ListedRun& run) {
        options.json ? console.item("run", row_json(run)) : console.out.line(whole_line(run));
        return ++listed != options.count;
      });
  if (!read) return fail(read.error());
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
