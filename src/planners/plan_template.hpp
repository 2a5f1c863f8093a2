// Placeholders and conditions of a written plan. Values come from a scope: a JSON object
// `{prompt, steps: {<id>: {ok, text, value}}, item, index}`, so that a reference is a path into it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/json/json.hpp"

namespace re2 {
class RE2;
}

namespace praxis {

/// The path inside `${...}`: names and array indexes, at least one name first.
struct Reference {
  std::string text;  ///< as written, for messages
  std::vector<std::variant<std::string, std::size_t>> path;
};
/// A parsed string with placeholders. `$$` is a literal `$`.
struct Template {
  std::vector<std::variant<std::string, Reference>> pieces;
  /// Returns the reference if the whole string is one placeholder; else null.
  const Reference* only_reference() const;
};
/// Error `kInput`: a placeholder is not closed or holds no path.
Result<Template> parse_template(std::string_view text);
/// Returns every reference in the strings of `json`. Errors as `parse_template`.
Result<std::vector<Reference>> references_of(const Json& json);

/// Returns the value at `reference`. Error `kInput`: it does not exist in the scope.
Result<Json> look_up(const Reference& reference, const Json& scope);
/// Returns `json` with every placeholder replaced; a string that is exactly one placeholder becomes the
/// value, of any type.
Result<Json> fill(const Json& json, const Json& scope);
/// Returns `text` with every placeholder replaced; values that are not strings are inserted as JSON.
Result<std::string> fill_text(std::string_view text, const Json& scope);

/// The condition in `when`.
struct Condition {
  enum class Test : std::uint8_t { kTruthy, kEquals, kNotEquals, kContains, kExists, kMatches };
  Test test = Test::kTruthy;
  Reference value;
  Json operand;
  std::shared_ptr<const re2::RE2> pattern;  ///< for `kMatches`
};
/// Error `kInput`; the message does not name the step.
Result<Condition> parse_condition(const Json& json);
Result<bool> holds(const Condition& condition, const Json& scope);

}  // namespace praxis
