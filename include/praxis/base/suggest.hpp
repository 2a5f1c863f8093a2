// "Did you mean": the nearest known name to a mistyped one, for messages to people and models.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace praxis {

/// The candidate nearest to `name` when it is near enough to be what was meant: a few letters wrong, missing,
/// added or swapped, or only another case. The first of equally near ones.
std::optional<std::string> closest(std::string_view name, std::span<const std::string> candidates);

}  // namespace praxis
