// The measures of a journal as people read them: their texts, and all of them as one HTML file.
#pragma once

#include <cstdint>
#include <string>

#include "app/run_stats.hpp"

namespace praxis::app {

/// The shares of calls whose durations are shown (`EffectStats::percentile`).
inline constexpr double kMedian = 0.5, kUsualMost = 0.95;

/// A share of all as a percentage, such as `67 %`; `-` of nothing.
std::string rate_text(std::uint64_t part, std::uint64_t all);
/// What a row cost; `$?` if a price is unknown.
std::string cost_text(const StatsRow& row);

/// A file without scripts and without anything from elsewhere, which says so in its own policy.
/// `times`: what the tables are about, as a sentence.
std::string stats_page(const std::string& times, const StatsReport& report);

}  // namespace praxis::app
