#include "tui/tree_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/call_text.hpp"
#include "app/pending_text.hpp"
#include "app/plain_text.hpp"
#include "app/values.hpp"
#include "base/columns.hpp"
#include "tui/queue_list.hpp"
#include "tui/terminal_streams.hpp"

namespace praxis::tui {
namespace {

constexpr std::size_t kTextWidth = 200;  ///< of text by users and models

std::string status_text(const AgentNode& node) {
  return fmt::format("{}{}", to_string(node.status), node.paused ? " (paused)" : "");
}

/// The whole id, or on a narrow screen its end, which commands accept too.
std::string shown_id(const SessionId& id, std::size_t columns) {
  constexpr std::size_t kWideScreen = 120, kShortId = 8;
  const std::string& whole = id.str();
  return columns >= kWideScreen || whole.size() <= kShortId ? whole : whole.substr(whole.size() - kShortId);
}

std::string node_text(const AgentNode& node, UnixMillis now, std::size_t columns) {
  std::string text =
      fmt::format("{} {}  {}  {}", app::one_line(node.agent, kTextWidth), shown_id(node.id, columns),
                  status_text(node), app::show_duration(time_in_turns(node, now)));
  if (node.step > 0) text += fmt::format("  step {}", node.step);
  text += "  " + app::show_usage(node.usage);
  if (!node.children.empty()) text += fmt::format(" (subtree {})", app::show_usage(node.subtree));
  if (!node.content.empty()) text += fmt::format("  \"{}\"", app::one_line(node.content, kTextWidth));
  return text;
}

/// What a running node waits for: `openai:gpt-5 for 12 s`, `retry 3 of 4 in 2 s: ...`. Empty: nothing, or a
/// human, whose steps have lines of their own.
std::string wait_text(const AgentNode& node, UnixMillis now) {
  if (!node.waits || node.waits->reason == "human") return {};
  const NodeWait& wait = *node.waits;
  const bool is_over = wait.until <= now;
  if (wait.reason == "timer") return is_over ? "" : "timer, " + app::show_duration(wait.until - now);
  if (wait.reason == "retry" && !is_over) {
    const std::string of = wait.attempts == 0 ? "" : fmt::format(" of {}", wait.attempts);
    return fmt::format("retry {}{} in {}: {}", wait.attempt, of, app::show_duration(wait.until - now),
                       app::one_line(wait.what, kTextWidth));
  }
  const UnixMillis asked = std::max(wait.since, wait.until);
  return fmt::format("{} for {}",
                     node.waits->reason == "model" ? app::one_line(wait.what, kTextWidth) : "model",
                     app::show_duration(now - asked));
}

/// Draws each node below its parent.
class Drawing {
 public:
  Drawing(const std::vector<AgentNode>& nodes, const app::Workspace& workspace, UnixMillis now,
          std::size_t columns)
      : nodes_(nodes), workspace_(workspace), now_(now), columns_(columns) {
    for (const AgentNode& node : nodes) by_id_[node.id] = &node;
  }

  std::vector<TreeLine> draw() {
    for (const AgentNode& node : nodes_) {
      if (!by_id_.contains(node.parent)) draw(node, "", "");
    }
    return std::move(lines_);
  }

 private:
  /// `branch` leads to the node; `stem` leads to its children.
  void draw(const AgentNode& node, const std::string& branch, const std::string& stem) {
    lines_.push_back({branch + node_text(node, now_, columns_), node.status, true, false, node.id});
    const std::string beside = stem + (node.children.empty() ? "   " : "│  ");
    const auto say = [&](const std::string& text, bool is_typed = false) {
      lines_.push_back({beside + text, node.status, false, is_typed, node.id});
    };
    if (!node.comment.empty()) say("# " + app::one_line(node.comment, kTextWidth));
    if (node.status == SessionStatus::kInterrupted && node.parent.empty()) {
      say("its process has ended; continue with:");
      say("  " + app::resume_command(workspace_, node.id), true);
    }
    if (const std::string wait = wait_text(node, now_); !wait.empty() && node.held) say("waits: " + wait);
    for (const ParkedStep& step : node.pending) {
      const app::CallView what = shown(step, columns_of(beside) + 2);
      const bool is_barred = step.kind == ParkKind::kMachine || step.kind == ParkKind::kAuthorisation;
      const std::string why = is_barred ? " " + app::one_line(step.prompt, kTextWidth) : "";
      say(fmt::format("waits for a human ({}):{}", to_string(step.kind), why));
      say("| " + what.text);
      say("  " + app::deciding_text(workspace_, step, what.cut), true);
    }
    for (const WaitingMessage& each : node.waiting)
      say(waiting_line(each, std::max<std::size_t>(columns_, columns_of(beside) + 24) - columns_of(beside)));
    for (const SessionId& child : node.children) {
      const auto found = by_id_.find(child);
      if (found == by_id_.end()) continue;
      const bool last = child == node.children.back();
      draw(*found->second, stem + (last ? "└─ " : "├─ "), stem + (last ? "   " : "│  "));
    }
  }

  /// The call or question on what is left of a line after `before` columns.
  app::CallView shown(const ParkedStep& step, std::size_t before) const {
    const std::size_t columns = columns_ > before ? columns_ - before : 0;
    if (step.kind == ParkKind::kQuestion || step.tool.empty())
      return {app::one_line(step.prompt, std::max<std::size_t>(columns, 24)), false};
    return app::call_line(step.tool, step.arguments, columns);
  }

  const std::vector<AgentNode>& nodes_;
  const app::Workspace& workspace_;
  const UnixMillis now_;
  const std::size_t columns_;
  std::map<SessionId, const AgentNode*> by_id_;
  std::vector<TreeLine> lines_;
};

}  // namespace

std::vector<TreeLine> tree_lines(const std::vector<AgentNode>& nodes, const app::Workspace& workspace,
                                 UnixMillis now, std::size_t columns) {
  return Drawing(nodes, workspace, now, columns).draw();
}

std::string change_text(const AgentNode& node) {
  std::string text =
      fmt::format("{}  {}  {}", app::one_line(node.path, kTextWidth), node.id.str(), status_text(node));
  if (node.step > 0) text += fmt::format("  step {}", node.step);
  text += "  " + app::show_usage(node.usage);
  if (!node.comment.empty()) text += "  # " + app::one_line(node.comment, kTextWidth);
  for (const ParkedStep& step : node.pending)
    text += fmt::format("  {} waits ({})", step.id.str(), to_string(step.kind));
  return text;
}

}  // namespace praxis::tui
