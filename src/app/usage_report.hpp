// What model calls used, by day, agent and model, as the journal has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "praxis/base/ids.hpp"
#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"
#include "praxis/domain/usage.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis::app {

/// The model calls of one day (UTC) that one agent made with one model.
struct UsageRow {
  std::string day;  ///< `2026-01-31`
  std::string agent, model;
  std::uint64_t calls = 0;
  Usage usage = {};
  bool has_unknown_price = false;  ///< of at least one call: then the cost says too little
};

struct UsageQuestion {
  UnixMillis from = {}, until = {};    ///< calls that ended in this time; without `until` itself
  std::string agent = {}, model = {};  ///< empty: all
  /// Whether a session counts; null: all do.
  std::function<bool(const SessionId& session)> counts = nullptr;
  std::size_t max_sessions = 10'000;  ///< logs that are read, those that were written to last
};

struct UsageReport {
  std::vector<UsageRow> rows;  ///< by day, agent and model
  UsageRow total;              ///< without day, agent and model
  bool is_complete = true;     ///< false: there are more sessions than were read
};

/// Reads the logs that were written to in this time. A call counts on the day when it ended, also one that
/// failed. Sessions that another process removes meanwhile, and damaged ones, are left out. Error `kJournal`.
Result<UsageReport> usage_report(Journal& journal, const UsageQuestion& question);

}  // namespace praxis::app
