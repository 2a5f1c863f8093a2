#include "runtime/offered_tools.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace praxis {

const OfferedTools::Definitions& OfferedTools::of(Definitions all,
                                                  std::shared_ptr<const driver::Rules> rules) {
  if (offered_ && all == all_ && rules == rules_) return offered_;
  all_ = std::move(all);
  rules_ = std::move(rules);
  const auto is_denied = [&](const ToolDefinition& tool) { return denies(*rules_, tool.name); };
  if (!all_ || std::ranges::none_of(*all_, is_denied)) return offered_ = all_;
  auto offered = std::make_shared<std::vector<ToolDefinition>>();
  std::ranges::remove_copy_if(*all_, std::back_inserter(*offered), is_denied);
  return offered_ = std::move(offered);
}

}  // namespace praxis
