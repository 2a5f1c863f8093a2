// `runs`: lists the runs of the journal.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "app/envelope.hpp"
#include "app/plain_text.hpp"
#include "app/values.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis::cli {
namespace {

constexpr std::size_t kShortId = 8;        ///< characters at the end of an id
constexpr std::size_t kNarrowScreen = 60;  ///< columns; a narrower screen shows neither agent nor cost

/// One listed run.
struct Listed {
  SessionRow row;
  Usage usage;  ///< of the run and all below it
};

/// Adds the usage of a run, and marks it as awaiting a human if all its running sub-agents do.
Result<Listed> look_below(const std::shared_ptr<Journal>& journal, SessionRow row) {
  Listed listed{std::move(row), {}};
  JournalTree tree(journal, {.root = listed.row.id});
  if (auto read = tree.refresh(); !read) return fail(read.error());
  const auto nodes = tree.nodes();
  if (nodes.empty()) return listed;
  listed.usage = nodes.front().subtree;
  if (listed.row.status == to_string(SessionStatus::kRunning))
    listed.row.status = to_string(nodes.front().status);
  return listed;
}

JsonObject row_json(const Listed& listed) {
  const SessionRow& row = listed.row;
  return JsonObject{{"id", row.id.str()},
                    {"created_at", to_iso8601(row.created)},
                    {"updated_at", to_iso8601(row.updated)},
                    {"agent", row.agent},
                    {"model", row.model},
                    {"status", row.status},
                    {"title", row.title},
                    {"records", row.entries},
                    {"tokens", listed.usage.total()},
                    {"cost_usd", app::cost_or_null(listed.usage)},
                    {"parent", row.parent.empty() ? Json(nullptr) : Json(row.parent.str())}};
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

/// Writes the runs in columns: on a terminal cut to its width and with a header, elsewhere whole.
class Table {
 public:
  Table(Console& console, std::size_t id_length)
      : console_(console),
        is_screen_(console.terminal.out),
        width_(is_screen_ ? terminal_size(STDOUT_FILENO).columns : 0),
        id_length_(id_length),
        now_(system_environment()->now()) {}

  void head() const {
    if (is_screen_) line("ID", "AGE", "STATUS", "AGENT", "COST", "TITLE");
  }

  void row(const Listed& listed) const {
    const SessionRow& row = listed.row;
    const std::string& id = row.id.str();
    const std::string whose = row.parent.empty() ? "" : fmt::format("(for {}) ", shown_id(row.parent.str()));
    line(shown_id(id), is_screen_ ? app::show_age(now_ - row.created) : to_iso8601(row.created), row.status,
         is_screen_ ? row.agent : row.agent + "  " + row.model, app::show_cost(listed.usage),
         whose + row.title);
  }

 private:
  std::string shown_id(const std::string& id) const {
    return is_screen_ ? id.substr(id.size() - std::min(id.size(), id_length_)) : id;
  }

  void line(const std::string& id, const std::string& age, const std::string& status,
            const std::string& agent, const std::string& cost, const std::string& title) const {
    constexpr std::size_t kAgent = 12;
    constexpr std::size_t kWholeTitle = 80;
    if (!is_screen_) {
      console_.out.line(fmt::format("{}  {}  {:13}  {}  {}  {}", id, age, status,
                                    app::one_line(agent, kWholeTitle), cost,
                                    app::one_line(title, kWholeTitle)));
      return;
    }
    std::string text = fmt::format("{:{}}  {:>6}  {:13}", id, id_length_, age, status);
    std::size_t used = id_length_ + 2 + 6 + 2 + 13 + 2;
    if (width_ >= kNarrowScreen) {
      text += fmt::format("  {:{}}  {:>8}", app::one_line(agent, kAgent), kAgent, cost);
      used += 2 + kAgent + 2 + 8;
    }
    console_.out.line(text + "  " + app::one_line(title, width_ > used ? width_ - used : 0));
  }

  Console& console_;
  const bool is_screen_;
  const std::size_t width_;  ///< columns of the screen
  const std::size_t id_length_;
  const UnixMillis now_;
};

}  // namespace

Result<ExitStatus> execute(const RunsOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  auto journal = app::open_journal(*workspace, app::JournalUse::kLook);
  if (!journal && journal.error().kind() == ErrorKind::kNotFound) {
    console.err.line("no runs yet in " + workspace->journal);
    return ExitStatus::kFinished;
  }
  if (!journal) return fail(journal.error());
  auto rows = (*journal)->sessions(0);
  if (!rows) return fail(rows.error());
  const Table table(console, distinct_length(*rows));
  if (!options.all) std::erase_if(*rows, [](const SessionRow& row) { return !row.parent.empty(); });
  if (options.count != 0 && rows->size() > options.count) rows->resize(options.count);
  if (!options.json) table.head();
  for (SessionRow& row : *rows) {
    const auto listed = look_below(*journal, std::move(row));
    if (!listed) return fail(listed.error());
    if (options.json) {
      console.item("run", row_json(*listed));
    } else {
      table.row(*listed);
    }
  }
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
