// How agents, models and tools did over many runs: a projection of the journal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/waiting_time.hpp"
#include "app/without_secrets.hpp"
#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"
#include "praxis/domain/usage.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {

/// The member of a run's metadata that names the tenant it belongs to, as a server writes it.
inline constexpr const char* kTenantOfRun = "tenant";

/// What has a line of its own.
enum class StatsBy : std::uint8_t { kAll, kAgent, kModel, kTool, kDay, kTenant };
/// `all`, `agent`, `model`, `tool`, `day`, `tenant`.
std::string_view name_of(StatsBy by);
std::optional<StatsBy> stats_by_named(std::string_view name);

/// Counts of effects of one kind.
struct EffectStats {
  std::uint64_t calls = 0;    ///< that ended
  std::uint64_t errors = 0;   ///< of them, without a result
  std::uint64_t retries = 0;  ///< further attempts
  std::vector<Millis> durations = {};

  /// The duration that a share of the calls did not exceed (nearest rank); 0 without calls.
  Millis percentile(double share) const;
};

struct StatsRow {
  std::string name;         ///< of the agent, model, tool or tenant, or the day (UTC); empty: without tenant
  std::uint64_t turns = 0;  ///< that ended
  std::uint64_t finished = 0;  ///< of them, with an answer
  std::uint64_t steps = 0;     ///< model calls for an answer
  EffectStats model = {}, tool = {};
  Usage usage = {};
  WaitingTime waiting = {};        ///< of turns, sub-agents as agents of their own
  bool has_unknown_price = false;  ///< of at least one model call: then the cost says too little
};

struct StatsQuestion {
  std::vector<StatsBy> by = {StatsBy::kAll};  ///< a table for each
  UnixMillis from = {}, until = {};           ///< what ended in this time; without `until` itself
  /// Whether a session counts; null: all do.
  std::function<bool(const SessionId& session)> counts = nullptr;
};

struct StatsTable {
  StatsBy by = StatsBy::kAll;
  std::vector<StatsRow> rows = {};  ///< by name; one without a name for `kAll`
};

struct StatsReport {
  std::vector<StatsTable> tables;  ///< in the order of the question
  bool is_complete = true;         ///< false: there are more sessions than were read
};

/// Reads the logs that were written to in this time. Sub-agents count as agents of their own, and a turn for
/// the model that its agent had at its end; a tenant is that of the whole run. Names are shown as the filters
/// at `shown` of each session leave them. Error `kJournal`.
Result<StatsReport> run_stats(Journal& journal, const StatsQuestion& question, const Redactions& redactions);

/// The JSON form of a row.
JsonObject stats_json(const StatsRow& row);

}  // namespace praxis::app
