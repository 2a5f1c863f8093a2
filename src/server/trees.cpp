#include "server/trees.hpp"

#include <algorithm>

#include "runtime/agent_tree_nodes.hpp"

namespace praxis::server {

Result<std::optional<AgentNode>> Trees::lone(const SessionId& id) const {
  const auto below = journal_->children(id);
  if (!below) return fail(below.error());
  // Read before the log, as a tree is: what is added in between only makes it newer.
  const auto row = journal_->session(id);
  if (!row) return fail(row.error());
  if (!below->empty() || row->entries == 0) return std::nullopt;
  const auto state = folds_->last(id);
  if (!state || !(*state)->children.empty()) return std::nullopt;
  return lone_node(**state, *row);
}

Result<std::vector<AgentNode>> Trees::of(const SessionId& root) {
  const auto alone = lone(root);
  if (!alone) return fail(alone.error());
  if (*alone) return std::vector{**alone};
  std::shared_ptr<Kept> kept;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Kept>& known = trees_[root];
    if (!known) known = std::make_shared<Kept>(JournalTree(journal_, {.root = root}));
    known->used = ++uses_;
    kept = known;
    if (trees_.size() > kMost)
      trees_.erase(std::ranges::min_element(trees_, {}, [](const auto& each) { return each.second->used; }));
  }
  const std::lock_guard lock(kept->mutex);
  if (auto read = kept->tree.refresh(); !read) {
    const std::lock_guard all(mutex_);
    trees_.erase(root);
    return fail(read.error());
  }
  return kept->tree.nodes();
}

}  // namespace praxis::server
