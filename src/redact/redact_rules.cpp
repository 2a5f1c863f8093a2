#include "redact/redact_rules.hpp"

#include <algorithm>
#include <string>

namespace praxis {
namespace {

constexpr std::array kWrittenLevels{RedactLevel::kOff, RedactLevel::kBalanced, RedactLevel::kStrict};

}  // namespace

std::string_view to_string(RedactLevel level) {
  switch (level) {
    case RedactLevel::kUnset:
      return "unset";
    case RedactLevel::kOff:
      return "off";
    case RedactLevel::kBalanced:
      return "balanced";
    case RedactLevel::kStrict:
      return "strict";
  }
  std::unreachable();
}

std::optional<RedactLevel> redact_level_from(std::string_view name) {
  const auto found =
      std::ranges::find(kWrittenLevels, name, [](RedactLevel each) { return to_string(each); });
  return found == kWrittenLevels.end() ? std::nullopt : std::optional(*found);
}

Json to_json(const RedactRules& rules) {
  JsonObject out;
  for (const auto& [name, level] : kRedactPoints) {
    if (rules.*level != RedactLevel::kUnset) out[name] = to_string(rules.*level);
  }
  if (rules.personal) out["personal"] = true;
  return out;
}

Result<RedactRules> redact_rules_from_json(const Json& json) {
  const auto wrong = [](const std::string& what) { return fail(ErrorCode::kInput, "policy.redact" + what); };
  if (!json.is_object()) return wrong(" must be a table, not " + to_json_text(json));
  RedactRules rules;
  for (const auto& [key, value] : json.get_object()) {
    const std::string name(key);
    if (name == "personal") {
      if (!value.is_bool()) return wrong(".personal must be true or false, not " + to_json_text(value));
      rules.personal = value.get_bool();
      continue;
    }
    const auto point =
        std::ranges::find(kRedactPoints, std::string_view(name), [](const auto& each) { return each.first; });
    if (point == kRedactPoints.end())
      return wrong(" has exports, events, results and personal, not \"" + name + '"');
    const auto level = value.is_string() ? redact_level_from(value.get_string()) : std::nullopt;
    if (!level)
      return wrong('.' + name + " must be \"off\", \"balanced\" or \"strict\", not " + to_json_text(value));
    rules.*(point->second) = *level;
  }
  return rules;
}

RedactRules stricter(const RedactRules& one, const RedactRules& other) {
  RedactRules both = one;
  for (const auto& [name, level] : kRedactPoints) both.*level = std::max(one.*level, other.*level);
  both.personal = one.personal || other.personal;
  return both;
}

RedactRules narrowed(const RedactRules& above, const RedactRules& own) {
  RedactRules both = stricter(above, own);
  for (const auto& [name, level] : kRedactPoints) {
    if (above.*level == RedactLevel::kUnset && own.*level == RedactLevel::kOff)
      both.*level = RedactLevel::kUnset;
  }
  return both;
}

}  // namespace praxis
