// Templates with `{name}`. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "praxis/json/json.hpp"
#include "praxis/prompts/prompt_store.hpp"

namespace praxis {

PromptCheck check_fstring(std::string_view text);

/// The text with the values of `params` in place of the variables; those that are missing become nothing and
/// are added to `missing`, each once. Error `kInput`: the text is no template, or the result is too long.
Result<std::string> render_fstring(std::string_view text, const Json& params,
                                   std::vector<std::string>& missing);

/// The member that a variable names, by a path with dots; null pointer if it is missing.
const Json* value_of_variable(const Json& params, std::string_view name);

/// An upper bound of what a template renders to, in bytes.
inline constexpr std::size_t kMaxRendered = std::size_t{8} * 1024 * 1024;

}  // namespace praxis
