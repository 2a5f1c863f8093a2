#include "app/run_trees.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

namespace praxis::app {
namespace {

bool is_idle_status(SessionStatus status) {
  switch (status) {
    case SessionStatus::kRunning:
    case SessionStatus::kAwaitingUser:
    case SessionStatus::kModified:
    case SessionStatus::kInterrupted:
      return false;
    default:
      return true;
  }
}

}  // namespace

bool is_idle(const AgentNode& node) { return is_idle_status(node.status); }

RunTrees::RunTrees(std::shared_ptr<Journal> journal, const SessionId& root) : journal_(std::move(journal)) {
  add_tree(root);
}

void RunTrees::add_tree(const SessionId& root) {
  if (!trees_.contains(root)) trees_.emplace(root, JournalTree(journal_, {.root = root}));
}

Status RunTrees::find_trees() {
  if (!roots_) return {};
  auto rows = journal_->sessions();
  if (!rows) return fail(rows.error());
  std::erase_if(*rows, [](const SessionRow& row) { return !row.parent.empty() || row.entries == 0; });
  for (const SessionRow& row : *rows) {
    const bool busy = !is_idle_status(session_status_from(row.status).value_or(SessionStatus::kError));
    if (busy || roots_ == Roots::kAll) add_tree(row.id);
  }
  if (trees_.empty() && roots_ == Roots::kLast && !rows->empty()) add_tree(rows->front().id);
  return {};
}

Status RunTrees::refresh() {
  if (auto found = find_trees(); !found) return found;
  std::vector<SessionId> gone;
  for (auto& [root, tree] : trees_) {
    auto read = tree.refresh();
    const bool is_gone = !read && roots_ && read.error().kind() == ErrorKind::kNotFound;
    if (is_gone) gone.push_back(root);
    if (!read && !is_gone) return read;
  }
  for (const SessionId& root : gone) trees_.erase(root);
  return {};
}

std::vector<SessionId> RunTrees::busy() const {
  std::vector<SessionId> roots;
  for (const auto& [root, tree] : trees_) {
    if (!std::ranges::all_of(tree.nodes(), is_idle)) roots.push_back(root);
  }
  return roots;
}

Result<std::vector<SessionId>> RunTrees::deserted() const {
  std::vector<SessionId> roots;
  for (const SessionId& root : busy()) {
    if (trees_.at(root).nodes().front().status == SessionStatus::kInterrupted) roots.push_back(root);
  }
  return roots;
}

std::vector<AgentNode> RunTrees::nodes() const {
  std::vector<AgentNode> busy, idle;
  for (const auto& [root, tree] : trees_ | std::views::reverse) {
    std::vector<AgentNode> nodes = tree.nodes();
    if (nodes.empty()) continue;
    std::ranges::move(nodes, std::back_inserter(is_idle(nodes.front()) ? idle : busy));
  }
  std::ranges::move(idle, std::back_inserter(busy));
  return busy;
}

}  // namespace praxis::app
