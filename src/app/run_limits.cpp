#include "app/run_limits.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

namespace praxis::app {
namespace {

/// Decides whether a setting replaces a limit; otherwise it only tightens it.
using Replaces = std::function<bool(const Setting& setting, bool is_default)>;

template <class T>
void bound(T& limit, T fallback, const Config& config, const std::string& key, double scale,
           const Replaces& replaces) {
  const auto setting = config.settings.find(key);
  if (setting == config.settings.end()) return;
  double number = 0;
  const std::string& text = setting->second.value;
  std::from_chars(text.data(), text.data() + text.size(), number);
  const T configured = static_cast<T>(number * scale + 0.5);
  limit = replaces(setting->second, limit == fallback) ? configured : std::min(limit, configured);
}

Limits bounded(Limits limits, const Config& config, const Replaces& replaces) {
  const Limits defaults;
  bound(limits.max_steps, defaults.max_steps, config, "limits.max_steps", 1, replaces);
  bound(limits.max_usd.value, defaults.max_usd.value, config, "limits.max_usd", 1e6, replaces);
  const auto bound_time = [&](Millis Limits::* limit, const std::string& key) {
    auto millis = (limits.*limit).count();
    bound(millis, (defaults.*limit).count(), config, key, 1, replaces);
    limits.*limit = Millis{millis};
  };
  bound_time(&Limits::timeout, "limits.timeout");
  bound_time(&Limits::max_wait, "limits.max_wait");
  return limits;
}

}  // namespace

Limits limits_of_run(Limits limits, const Config& config) {
  return bounded(limits, config, [](const Setting& setting, bool is_default) {
    return setting.origin == "flag" || is_default;
  });
}

Limits limits_replaced(Limits limits, const Config& config, const std::set<std::string>& keys) {
  Config given;
  for (const std::string& key : keys) {
    const auto setting = config.settings.find(key);
    if (setting != config.settings.end()) given.settings.insert(*setting);
  }
  return bounded(limits, given, [](const Setting& /*setting*/, bool /*is_default*/) { return true; });
}

}  // namespace praxis::app
