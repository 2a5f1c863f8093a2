// What model calls used, by day, agent and model, as the journal has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
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
  UnixMillis from = {}, until = {};  ///< beginnings of days (UTC): calls that ended on these, without `until`
  std::string agent = {}, model = {};  ///< empty: all
  /// Whether a session counts; null: all do.
  std::function<bool(const SessionId& session)> counts = nullptr;
};

struct UsageReport {
  std::vector<UsageRow> rows;  ///< by day, agent and model
  UsageRow total;              ///< without day, agent and model
};

/// Answers questions about one journal, however many sessions it has. Thread-safe. Remembers what each log
/// adds up to, within bounds, so that a log is read once and again only when it has grown.
class UsageIndex {
 public:
  /// Counts the logs that were written to in this time. A call counts on the day when it ended, also one that
  /// failed. Sessions that another process removes meanwhile, and damaged ones, are left out. Error
  /// `kJournal`.
  Result<UsageReport> report(Journal& journal, const UsageQuestion& question);

 private:
  using Rows = std::shared_ptr<const std::vector<UsageRow>>;
  static constexpr std::size_t kMostKept = 500'000;  // rows
  struct Known {
    std::uint64_t entries = 0;  ///< of the log when it was read
    Rows rows;
  };

  /// What a session used, by day, agent and model. Null: its log cannot be read.
  Rows rows_of(Journal& journal, const SessionRow& session);

  std::mutex mutex_;  // guards the next members; not held while a log is read
  std::map<SessionId, Known> known_;
  std::size_t kept_ = 0;
};

}  // namespace praxis::app
