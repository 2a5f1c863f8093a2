// Parses and formats values on the command line: money, assignments, durations, shell words.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"
#include "praxis/domain/agent_spec.hpp"
#include "praxis/domain/usage.hpp"

namespace praxis::app {

/// US dollars such as `0.5`; more than zero, at most a million. Error `kInput`.
Result<MicroUsd> parse_usd(std::string_view text);
/// `priority`, `cost` or `latency`. Error `kInput`.
Result<RouteOrder> parse_route_order(std::string_view text);
/// Splits `NAME=VALUE`. Error `kInput`.
Result<std::pair<std::string, std::string>> parse_assignment(std::string_view text);

/// `12 ms`, `1.5 s`, `2 min 5 s`.
std::string show_duration(Millis duration);
/// `$0.0012`; amounts below a hundredth of a cent keep their digits; zero is `$0`.
std::string show_usd(MicroUsd cost);
/// How long ago something was, in one unit: `12 s`, `5 min`, `3 h`, `9 d`.
std::string show_age(Millis age);
/// The cost of `usage`: `$0.0012`, `~$0.0012` if it was estimated, `$?` if no price of its tokens is known.
std::string show_cost(const Usage& usage);
/// Tokens and cost: `340 tokens, $0.0012`. `~` marks what was estimated.
std::string show_usage(const Usage& usage);
/// The word quoted for a shell, if necessary.
std::string shell_word(std::string_view word);

}  // namespace praxis::app
