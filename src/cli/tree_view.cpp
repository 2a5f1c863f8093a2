#include "cli/tree_view.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "app/envelope.hpp"
#include "base/columns.hpp"
#include "cli/terminal.hpp"
#include "praxis/base/environment.hpp"
#include "tui/tree_text.hpp"

namespace praxis::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kRedrawTree = 250ms;

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

/// Runs without a process in two consecutive looks; a single look could fall into a handover between
/// processes.
class Deserted {
 public:
  std::vector<SessionId> among(std::vector<SessionId> now) {
    const auto before = std::exchange(before_, now);
    std::erase_if(now, [&](const SessionId& root) { return !std::ranges::count(before, root); });
    return now;
  }

 private:
  std::vector<SessionId> before_;
};

}  // namespace

void show_tree(const std::vector<AgentNode>& nodes, bool json, const app::Workspace& workspace,
               Console& console) {
  if (json) {
    print_json(nodes, console);
  } else {
    View(workspace, console).draw(nodes);
  }
}

Result<ExitStatus> watch_tree(const std::function<Result<TreeState>()>& look, bool json,
                              const app::Workspace& workspace, Console& console) {
  View view(workspace, console);
  Changes changes;
  Deserted deserted;
  for (;; std::this_thread::sleep_for(kRedrawTree)) {
    const auto state = look();
    if (!state) return fail(state.error());
    const auto& nodes = state->nodes;
    if (json) {
      print_json(changes.of(nodes), console);
    } else if (console.terminal.out_live) {
      view.redraw(nodes);
    } else {
      for (const AgentNode& node : changes.of(nodes)) {
        console.out.line(fmt::format("{}  {}", to_iso8601(node.updated), tui::change_text(node)));
      }
    }
    const auto gone = deserted.among(state->deserted);
    if (gone.size() < state->busy.size()) continue;
    if (!json && console.terminal.out_live) view.redraw(nodes, true);
    for (const SessionId& root : gone) {
      console.err.line(fmt::format("{} was interrupted: its process has ended. Resume it with {}", root.str(),
                                   app::resume_command(workspace, root)));
    }
    return gone.empty() ? ExitStatus::kFinished : ExitStatus::kFailed;
  }
}

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
    case CommandVerb::kWithdraw:
      return "will not receive it";
    case CommandVerb::kMove:
      return "will receive it in the new order";
    case CommandVerb::kCompact:
      return "summarises older messages before its next model call";
    default:
      return "noted";
  }
}

}  // namespace praxis::cli
