// The tools that a model request offers: those of the agent that no deny rule names.
#pragma once

#include <memory>
#include <vector>

#include "driver/call_review.hpp"

namespace praxis {

/// Not thread-safe: belongs to its session's strand.
class OfferedTools {
 public:
  using Definitions = std::shared_ptr<const std::vector<ToolDefinition>>;

  /// Returns the definitions that `rules` do not deny; null for an agent without tools. The same list and
  /// rules give the same object, so that writers of requests recognise an unchanged list.
  const Definitions& of(Definitions all, std::shared_ptr<const driver::Rules> rules);

 private:
  Definitions all_, offered_;
  std::shared_ptr<const driver::Rules> rules_;
};

}  // namespace praxis
