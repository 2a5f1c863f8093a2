// "Did you mean": the known name nearest to a mistyped one, for messages to humans and models.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace praxis {

/// Returns the candidate nearest to `name` if it is a plausible typing error: a few letters wrong, missing,
/// added or swapped, or only a different case. The first of equally near ones; `std::nullopt` if no candidate
/// is near enough.
std::optional<std::string> closest(std::string_view name, std::span<const std::string> candidates);

}  // namespace praxis
#pragma GCC visibility pop
