#include "app/forest.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

namespace praxis::cli {
namespace {

bool is_resting(SessionStatus status) {
  switch (status) {
    case SessionStatus::kRunning:
    case SessionStatus::kAwaitingUser:
    case SessionStatus::kModified:
      return false;
    default:
      return true;
  }
}

}  // namespace

bool at_rest(const AgentNode& node) { return is_resting(node.status); }

Forest::Forest(std::shared_ptr<Journal> journal, const SessionId& root) : journal_(std::move(journal)) {
  plant(root);
}

void Forest::plant(const SessionId& root) {
  if (!trees_.contains(root)) trees_.emplace(root, JournalTree(journal_, {.root = root}));
}

Status Forest::find_trees() {
  if (!roots_) return {};
  auto rows = journal_->sessions();
  if (!rows) return fail(rows.error());
  std::erase_if(*rows, [](const SessionRow& row) { return !row.parent.empty() || row.entries == 0; });
  for (const SessionRow& row : *rows) {
    const bool busy = !is_resting(session_status_from(row.status).value_or(SessionStatus::kError));
    if (busy || roots_ == Roots::kAll) plant(row.id);
  }
  if (trees_.empty() && roots_ == Roots::kLast && !rows->empty()) plant(rows->front().id);
  return {};
}

Status Forest::refresh() {
  if (auto found = find_trees(); !found) return found;
  for (auto& [root, tree] : trees_) {
    if (auto read = tree.refresh(); !read) return read;
  }
  return {};
}

std::vector<SessionId> Forest::busy() const {
  std::vector<SessionId> roots;
  for (const auto& [root, tree] : trees_) {
    if (!std::ranges::all_of(tree.nodes(), at_rest)) roots.push_back(root);
  }
  return roots;
}

Result<std::vector<SessionId>> Forest::deserted() const {
  std::vector<SessionId> roots;
  for (const SessionId& root : busy()) {
    const SessionStatus status = trees_.at(root).nodes().front().status;
    if (status != SessionStatus::kRunning && status != SessionStatus::kModified) continue;
    const auto row = journal_->session(root);
    if (!row) return fail(row.error());
    if (!row->held) roots.push_back(root);
  }
  return roots;
}

std::vector<AgentNode> Forest::nodes() const {
  std::vector<AgentNode> busy, resting;
  for (const auto& [root, tree] : trees_ | std::views::reverse) {
    std::vector<AgentNode> nodes = tree.nodes();
    if (nodes.empty()) continue;
    std::ranges::move(nodes, std::back_inserter(at_rest(nodes.front()) ? resting : busy));
  }
  std::ranges::move(resting, std::back_inserter(busy));
  return busy;
}

}  // namespace praxis::cli
