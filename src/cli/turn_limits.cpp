#include "cli/turn_limits.hpp"

#include <fmt/format.h>

#include <set>

#include "app/run_limits.hpp"

namespace praxis::cli {

std::map<std::string, std::string> flags_of(const TurnLimits& limits) {
  std::map<std::string, std::string> flags;
  if (limits.max_steps) flags["limits.max_steps"] = std::to_string(*limits.max_steps);
  if (limits.max_usd) flags["limits.max_usd"] = fmt::format("{}", limits.max_usd->usd());
  if (limits.timeout) flags["limits.timeout"] = std::to_string(limits.timeout->count());
  if (limits.patience) flags["network.patience"] = std::to_string(limits.patience->count());
  return flags;
}

Limits limits_given(Limits limits, const TurnLimits& given, const Config& config) {
  std::set<std::string> keys;
  for (const auto& [key, text] : flags_of(given)) keys.insert(key);
  return app::limits_replaced(limits, config, keys);
}

}  // namespace praxis::cli
