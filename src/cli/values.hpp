// What people type as values and read as values: money, assignments, durations, words of a shell.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"
#include "praxis/domain/usage.hpp"

namespace praxis::cli {

/// US dollars such as `0.5`; more than zero, at most a million. Error `kInput`.
Result<MicroUsd> parse_usd(std::string_view text);
/// Splits `NAME=VALUE`. Error `kInput`.
Result<std::pair<std::string, std::string>> parse_assignment(std::string_view text);

/// `12 ms`, `1.5 s`, `2 min 5 s`.
std::string show_duration(Millis duration);
/// `$0.0012`; nothing below a hundredth of a cent is lost but zero is `$0`.
std::string show_usd(MicroUsd cost);
/// The word as a shell reads it back: quoted when it must be.
std::string shell_word(std::string_view word);

}  // namespace praxis::cli
