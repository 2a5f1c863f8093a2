// Parses and formats values on the command line: money, assignments, durations, shell words.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"
#include "praxis/domain/usage.hpp"

namespace praxis::app {

/// US dollars such as `0.5`; more than zero, at most a million. Error `kInput`.
Result<MicroUsd> parse_usd(std::string_view text);
/// Splits `NAME=VALUE`. Error `kInput`.
Result<std::pair<std::string, std::string>> parse_assignment(std::string_view text);

/// `12 ms`, `1.5 s`, `2 min 5 s`.
std::string show_duration(Millis duration);
/// `$0.0012`; amounts below a hundredth of a cent keep their digits; zero is `$0`.
std::string show_usd(MicroUsd cost);
/// The word quoted for a shell, if necessary.
std::string shell_word(std::string_view word);

}  // namespace praxis::app
