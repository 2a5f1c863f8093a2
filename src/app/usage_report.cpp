#include "app/usage_report.hpp"

#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "app/envelope.hpp"
#include "app/journal_walk.hpp"
#include "praxis/logs/logs.hpp"

namespace praxis::app {
namespace {

using RowKey = std::tuple<std::string, std::string, std::string>;  // day, agent, model

void add(UsageRow& row, const UsageRow& more) {
  row.calls += more.calls;
  row.usage += more.usage;
  row.has_unknown_price = row.has_unknown_price || more.has_unknown_price;
}

UsageRow& row_of(std::map<RowKey, UsageRow>& rows, const UsageRow& like) {
  UsageRow& row = rows[{like.day, like.agent, like.model}];
  row.day = like.day;
  row.agent = like.agent;
  row.model = like.model;
  return row;
}

std::vector<UsageRow> values_of(std::map<RowKey, UsageRow> rows) {
  std::vector<UsageRow> values;
  for (auto& [key, row] : rows) values.push_back(std::move(row));
  return values;
}

std::vector<UsageRow> rows_in(const std::vector<StoredRecord>& records) {
  std::map<RowKey, UsageRow> rows;
  const AgentSpec* agent = nullptr;
  for (const auto& [seq, record] : records) {
    if (const AgentSpec* given = agent_in(record.body)) agent = given;
    const auto spent = agent == nullptr ? std::nullopt : spent_by(record.body);
    if (!spent) continue;
    UsageRow call{.day = day_of(record.time), .agent = agent->id, .model = model_of(*agent, spent->model)};
    call.calls = 1;
    call.usage = spent->usage;
    call.has_unknown_price = cost_or_null(spent->usage).is_null();
    add(row_of(rows, call), call);
  }
  return values_of(std::move(rows));
}

}  // namespace

UsageIndex::Rows UsageIndex::rows_of(Journal& journal, const SessionRow& session) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(session.id);
    if (found != known_.end() && found->second.entries == session.entries) return found->second.rows;
  }
  const auto records = read_records(journal, session.id);
  if (!records) return nullptr;
  const auto rows = std::make_shared<const std::vector<UsageRow>>(rows_in(*records));
  const std::lock_guard lock(mutex_);
  if (kept_ > kMostKept) {
    known_.clear();
    kept_ = 0;
  }
  Known& known = known_[session.id];
  kept_ += rows->size() + 1 - (known.rows ? known.rows->size() + 1 : 0);
  known = {records->empty() ? 0 : records->back().seq, rows};
  return rows;
}

Result<UsageReport> UsageIndex::report(Journal& journal, const UsageQuestion& question) {
  const auto sessions = journal.sessions();
  if (!sessions) return fail(sessions.error());
  const std::string from = day_of(question.from), until = day_of(question.until);
  std::map<RowKey, UsageRow> sums;
  for (const SessionRow& session : *sessions) {
    if (session.updated < question.from || session.created >= question.until || session.entries == 0)
      continue;
    if (question.counts && !question.counts(session.id)) continue;
    const Rows rows = rows_of(journal, session);
    if (!rows) continue;
    for (const UsageRow& row : *rows) {
      const bool counts = row.day >= from && row.day < until &&
                          (question.agent.empty() || row.agent == question.agent) &&
                          (question.model.empty() || row.model == question.model);
      if (counts) add(row_of(sums, row), row);
    }
  }
  UsageReport report;
  report.rows = values_of(std::move(sums));
  for (const UsageRow& row : report.rows) add(report.total, row);
  return report;
}

}  // namespace praxis::app
