// Asks the user whether a rule that allows a call from now on is saved.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "app/always_rules.hpp"
#include "cli/console.hpp"

namespace praxis::cli {

/// Shows the rule and asks whether to save it. The user may change it in the editor first; then it is shown
/// and asked about again. `ask` prints a prompt and returns the typed line. `std::nullopt`: no.
std::optional<app::AlwaysRule> agreed_rule(
    const app::AlwaysRule& narrow, Console& console,
    const std::function<std::optional<std::string>(std::string_view prompt)>& ask);

}  // namespace praxis::cli
