// What changed between two texts, line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace praxis::app {

/// The lines of `after`, those that `before` lacks marked with `+`, and those of `before` that are gone with
/// `-`.
std::vector<std::string> marked_changes(const std::vector<std::string>& before,
                                        const std::vector<std::string>& after);
/// The changed lines of a text in the same form, with two lines around each change and `...` for what is left
/// out; safe to display.
std::vector<std::string> changed_lines(std::string_view before, std::string_view after);

}  // namespace praxis::app
