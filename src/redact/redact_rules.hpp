// What leaves the program redacted: `[policy.redact]` of an agent file and of the configuration. Data and its
// JSON form; docs/secrets.md describes it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "praxis/json/json.hpp"

namespace praxis {

/// How much is redacted at one point, from the least to the most. `kUnset`: other rules decide, and
/// `kBalanced` without any.
enum class RedactLevel : std::uint8_t { kUnset, kOff, kBalanced, kStrict };
std::string_view to_string(RedactLevel level);

/// Where the level can be chosen. Personal data is left in unless `personal` is set. Recordings and messages
/// of failures are always `kBalanced`.
struct RedactRules {
  RedactLevel exports = RedactLevel::kUnset;  ///< transcripts as JSON, Markdown, HTML; reports of evaluations
  RedactLevel events = RedactLevel::kUnset;   ///< what clients of a server observe
  /// What tools give, before it is recorded and the model reads it; `kUnset` is `kOff`.
  RedactLevel results = RedactLevel::kUnset;
  bool personal = false;
  bool operator==(const RedactRules&) const = default;
};
/// The points by their names in a file.
inline constexpr std::array kRedactPoints{std::pair{std::string_view("exports"), &RedactRules::exports},
                                          std::pair{std::string_view("events"), &RedactRules::events},
                                          std::pair{std::string_view("results"), &RedactRules::results}};
/// The level of this name.
std::optional<RedactLevel> redact_level_from(std::string_view name);

/// `{exports?, events?, results?, personal?}` and back. Error `kInput`: a key is unknown or has a
/// value of another type.
Json to_json(const RedactRules& rules);
Result<RedactRules> redact_rules_from_json(const Json& json);
/// Rules that redact at each point at least as much as both.
RedactRules stricter(const RedactRules& one, const RedactRules& other);
/// The rules of an agent below others, which cannot turn off what `above` leaves to the default.
RedactRules narrowed(const RedactRules& above, const RedactRules& own);

}  // namespace praxis
