// The measures of a journal as one HTML file.
#pragma once

#include <string>
#include <vector>

#include "app/run_stats.hpp"

namespace praxis::app {

/// A table of the page.
struct StatsTable {
  std::string title;
  StatsBy by = StatsBy::kAll;
  StatsReport report;
};

/// A file without scripts and without anything from elsewhere, which says so in its own policy.
/// `times`: what the tables are about, as a sentence.
std::string stats_page(const std::string& times, const std::vector<StatsTable>& tables);

}  // namespace praxis::app
