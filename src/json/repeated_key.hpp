// Finds keys that an object has twice. `parse_json` keeps the last value of such a key, other readers keep
// the first: text with a repeated key means different things to different readers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "praxis/json/json.hpp"

namespace praxis {

/// Returns a key that one object in the JSON text has more than once, at any depth. Keys are compared after
/// their escapes are resolved. `std::nullopt`: no key repeats, or the text is not JSON.
std::optional<std::string> repeated_key(std::string_view json);
/// The same for a text that was parsed to `value`: usually this needs no second parse.
std::optional<std::string> repeated_key(std::string_view json, const Json& value);
/// The reason why arguments of a tool with this repeated key are refused, for the model.
std::string repeated_key_problem(std::string_view key);

}  // namespace praxis
