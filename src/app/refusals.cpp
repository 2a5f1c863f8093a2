#include "app/refusals.hpp"

#include "praxis/base/dates.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kMostRefusals = 5'000, kMostRefusalFile = 4 * 1024 * 1024;

}  // namespace

RefusalLog::RefusalLog(const std::string& folder) : lines_(folder, "refusals.jsonl", kMostRefusalFile) {}

Result<std::vector<AccessRefusal>> RefusalLog::all() const {
  const auto lines = lines_.all();
  if (!lines) return fail(lines.error());
  std::vector<AccessRefusal> all;
  for (const Json& line : *lines) {
    all.push_back({.time = from_iso8601(json_string(line, "time")).value_or(UnixMillis{}),
                   .principal = json_string(line, "principal"),
                   .role = json_string(line, "role"),
                   .right = json_string(line, "right"),
                   .route = json_string(line, "route")});
  }
  return all;
}

Status RefusalLog::add(const AccessRefusal& refusal) const {
  const auto changed = lines_.change([&](std::vector<Json>& lines) -> Result<bool> {
    if (lines.size() >= kMostRefusals)
      lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(kMostRefusals / 10));
    lines.emplace_back(JsonObject{{"time", to_iso8601(refusal.time)},
                                  {"principal", refusal.principal},
                                  {"role", refusal.role},
                                  {"right", refusal.right},
                                  {"route", refusal.route}});
    return true;
  });
  return changed ? Status{} : fail(changed.error());
}

}  // namespace praxis::app
