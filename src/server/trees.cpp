#include "server/trees.hpp"

#include <algorithm>

namespace praxis::server {

Result<std::vector<AgentNode>> Trees::of(const SessionId& root) {
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
