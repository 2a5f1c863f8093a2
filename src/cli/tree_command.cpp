// `tree`: draws the agents of runs, once or continuously, and sends commands to a node.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <tuple>
#include <variant>

#include "app/envelope.hpp"
#include "app/hints.hpp"
#include "app/run_trees.hpp"
#include "app/workspace.hpp"
#include "base/columns.hpp"
#include "cli/author.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"
#include "cli/terminal.hpp"
#include "praxis/runtime/commands.hpp"
#include "tui/tree_text.hpp"

namespace praxis::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kRedrawTree = 250ms;
constexpr auto kAnswerPatience = 5s;  ///< for the process that owns the session to answer a command

std::string_view color_of(const tui::TreeLine& line) {
  if (line.is_typed) return "";
  if (!line.is_node) return kDim;
  switch (line.status) {
    case SessionStatus::kRunning:
    case SessionStatus::kModified:
      return kGreen;
    case SessionStatus::kAwaitingUser:
      return kYellow;
    case SessionStatus::kError:
    case SessionStatus::kInterrupted:
      return kRed;
    default:
      return kDim;
  }
}

/// Number of screen lines that a text occupies.
std::size_t rows_of(const std::string& text, std::size_t columns) {
  return std::max<std::size_t>(1, (columns_of(text) + columns - 1) / columns);
}

/// Draws the tree on standard output.
class View {
 public:
  View(const app::Workspace& workspace, Console& console) : workspace_(workspace), console_(console) {}

  void draw(const std::vector<AgentNode>& nodes) {
    for (const tui::TreeLine& line : lines(nodes)) console_.out.line(colored(line));
  }

  /// Replaces the previous drawing in a single write, to avoid flicker. Omits lines that do not fit on the
  /// screen, because they could not be redrawn, unless this is the last drawing.
  void redraw(const std::vector<AgentNode>& nodes, bool is_last_drawing = false) {
    const TerminalSize size = terminal_size(STDOUT_FILENO);
    std::string screen = rows_ > 0 ? fmt::format("\r\x1b[{}A", rows_) : "";
    rows_ = 0;
    const auto all = lines(nodes);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t rows = rows_of(all[i].text, size.columns);
      const bool is_last = i + 1 == all.size();
      if (!is_last_drawing && rows_ + rows + (is_last ? 1 : 2) > size.rows) {
        screen += fmt::format("... {} more lines\x1b[K\n", all.size() - i);
        ++rows_;
        break;
      }
      // Erases before writing: after a line that fills the width, erasing would take its last column.
      const bool is_full = columns_of(all[i].text) % size.columns == 0;
      screen += "\x1b[K" + colored(all[i]) + (is_full ? "\n" : "\x1b[K\n");
      rows_ += rows;
    }
    console_.out.write(screen + "\x1b[J");
  }

 private:
  /// On a terminal, each line except commands is cut to the width.
  std::vector<tui::TreeLine> lines(const std::vector<AgentNode>& nodes) const {
    constexpr std::size_t kPipeColumns = 200;
    const bool is_terminal = console_.terminal.out;
    const std::size_t columns = is_terminal ? terminal_size(STDOUT_FILENO).columns : kPipeColumns;
    auto drawn = tui::tree_lines(nodes, workspace_, system_environment()->now(), columns);
    if (!is_terminal) return drawn;
    for (tui::TreeLine& line : drawn) {
      if (!line.is_typed) line.text = cut_to(line.text, columns);
    }
    return drawn;
  }

  std::string colored(const tui::TreeLine& line) const {
    const std::string_view color = color_of(line);
    if (!console_.terminal.out_color || color.empty()) return line.text;
    return fmt::format("{}{}{}", color, line.text, kPlain);
  }

  const app::Workspace& workspace_;
  Console& console_;
  std::size_t rows_ = 0;  ///< screen lines of the current drawing
};

/// The state of a node whose change is reported.
std::string state_of(const AgentNode& node) {
  JsonObject json = to_json(node).get_object();
  json.erase("updated");
  return to_canonical_json(json);
}

/// Finds the nodes that changed since the last call.
class Changes {
 public:
  std::vector<AgentNode> of(const std::vector<AgentNode>& nodes) {
    std::vector<AgentNode> changed;
    for (const AgentNode& node : nodes) {
      std::string state = state_of(node);
      if (seen_[node.id] == state) continue;
      seen_[node.id] = std::move(state);
      changed.push_back(node);
    }
    return changed;
  }

 private:
  std::map<SessionId, std::string> seen_;
};

void print_json(const std::vector<AgentNode>& nodes, Console& console) {
  for (const AgentNode& node : nodes) console.item("agent", app::program_json(node));
}

/// Runs without a process in two consecutive checks; a single check could fall into a handover between
/// processes.
class Deserted {
 public:
  Result<std::vector<SessionId>> among(const app::RunTrees& trees) {
    auto now = trees.deserted();
    if (!now) return fail(now.error());
    const auto before = std::exchange(before_, *now);
    std::erase_if(*now, [&](const SessionId& root) { return !std::ranges::count(before, root); });
    return now;
  }

 private:
  std::vector<SessionId> before_;
};

/// Watches until all runs are idle or their process has ended. A signal ends the process.
Result<ExitStatus> watch(app::RunTrees& trees, const TreeOptions& options, const app::Workspace& workspace,
                         Console& console) {
  View view(workspace, console);
  Changes changes;
  Deserted deserted;
  for (;; std::this_thread::sleep_for(kRedrawTree)) {
    if (auto read = trees.refresh(); !read) return fail(read.error());
    const auto nodes = trees.nodes();
    if (options.json) {
      print_json(changes.of(nodes), console);
    } else if (console.terminal.out_live) {
      view.redraw(nodes);
    } else {
      for (const AgentNode& node : changes.of(nodes)) {
        console.out.line(fmt::format("{}  {}", to_iso8601(node.updated), tui::change_text(node)));
      }
    }
    const auto gone = deserted.among(trees);
    if (!gone) return fail(gone.error());
    if (gone->size() < trees.busy().size()) continue;
    if (!options.json && console.terminal.out_live) view.redraw(nodes, true);
    for (const SessionId& root : *gone) {
      console.err.line(fmt::format("{} was interrupted: its process has ended. Resume it with {}", root.str(),
                                   app::resume_command(workspace, root)));
    }
    return gone->empty() ? ExitStatus::kFinished : ExitStatus::kFailed;
  }
}

Result<app::RunTrees> trees_of(const TreeOptions& options, const app::Workspace& workspace) {
  auto journal = app::open_journal(workspace, app::JournalUse::kLook);
  if (!journal) return fail(journal.error());
  if (options.root.empty()) {
    return app::RunTrees(*std::move(journal),
                         options.all ? app::RunTrees::Roots::kAll : app::RunTrees::Roots::kLast);
  }
  const auto root = find_session(**journal, options.root);
  if (!root) return fail(app::with_hint(root.error(), "praxis runs lists them"));
  return app::RunTrees(*std::move(journal), *root);
}

/// The effect of a command, for the user.
std::string done_text(CommandVerb verb) {
  switch (verb) {
    case CommandVerb::kInterrupt:
      return "stopped";
    case CommandVerb::kPause:
      return "paused";
    case CommandVerb::kUnpause:
      return "unpaused";
    case CommandVerb::kSteer:
      return "will receive it at its next step";
    case CommandVerb::kEnqueue:
      return "will receive it as the message of its next turn";
    case CommandVerb::kModify:
      return "has a new task";
    case CommandVerb::kDelete:
      return "deleted";
    default:
      return "noted";
  }
}

/// Whether the command takes effect only once a process runs the session.
bool wants_to_run(CommandVerb verb) {
  return verb == CommandVerb::kUnpause || verb == CommandVerb::kSteer || verb == CommandVerb::kEnqueue ||
         verb == CommandVerb::kModify;
}

std::string outcome_name(const Delivery& answer) {
  if (std::holds_alternative<Delivered>(answer)) return "delivered";
  return std::holds_alternative<Refused>(answer) ? "refused" : "queued";
}

}  // namespace

Result<ExitStatus> execute(const TreeOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  auto trees = trees_of(options, *workspace);
  if (!trees && trees.error().kind() == ErrorKind::kNotFound && options.root.empty()) {
    console.err.line("no runs yet in " + workspace->journal);
    return ExitStatus::kFinished;
  }
  if (!trees) return fail(trees.error());
  if (options.watch) return watch(*trees, options, *workspace, console);
  if (auto read = trees->refresh(); !read) return fail(read.error());
  const auto nodes = trees->nodes();
  if (options.json) {
    print_json(nodes, console);
  } else {
    View(*workspace, console).draw(nodes);
  }
  return ExitStatus::kFinished;
}

Result<ExitStatus> execute(const TreeCommandOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto stored = app::open_session(*workspace, options.node, app::JournalUse::kWrite);
  if (!stored) return fail(stored.error());
  const auto& [journal, node] = std::tie(stored->journal, stored->id);
  const auto environment = system_environment();
  const auto root = app::root_of(*journal, node);
  // Before `deliver`, which may own the session itself for a moment.
  const bool is_idle = root && !app::is_held(*journal, *root);
  Commands commands{{options.verb, node, options.text, cli_author()}};
  for (const auto& [verb, text] : options.further) commands.push_back({verb, node, text, cli_author()});
  const auto answer = deliver(*journal, *environment, std::move(commands), kAnswerPatience);
  if (!answer) return fail(answer.error());
  console.result({{"session", node.str()}, {"verb", options.name}, {"outcome", outcome_name(*answer)}});
  if (const auto* refused = std::get_if<Refused>(&*answer)) return fail(app::usage_error(refused->reason));
  if (std::holds_alternative<Queued>(*answer)) {
    console.err.line(fmt::format(
        "{} belongs to a process that has not answered yet; the command waits in its inbox for that "
        "process, or for the next one that opens the run",
        node.str()));
    return ExitStatus::kFailed;
  }
  console.err.line(fmt::format("{} {}", node.str(), done_text(options.verb)));
  for (const auto& [verb, text] : options.further)
    console.err.line(fmt::format("{} {}", node.str(), done_text(verb)));
  if (is_idle && wants_to_run(options.verb)) {
    const bool needs_prompt = options.verb == CommandVerb::kSteer && !stored->state.turn;
    console.err.line(fmt::format("no process runs it now: {}{}", app::resume_command(*workspace, *root),
                                 needs_prompt ? " \"PROMPT\"" : ""));
  }
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
