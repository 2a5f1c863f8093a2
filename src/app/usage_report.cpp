#include "app/usage_report.hpp"

#include <map>
#include <tuple>
#include <utility>

#include "app/envelope.hpp"
#include "app/journal_walk.hpp"

namespace praxis::app {
namespace {

using Rows = std::map<std::tuple<std::string, std::string, std::string>, UsageRow>;

void add(UsageRow& row, const Usage& usage) {
  ++row.calls;
  row.usage += usage;
  row.has_unknown_price = row.has_unknown_price || cost_or_null(usage).is_null();
}

void add_session(const std::vector<StoredRecord>& records, const UsageQuestion& question, Rows& rows) {
  const AgentSpec* agent = nullptr;
  for (const auto& [seq, record] : records) {
    if (const AgentSpec* given = agent_in(record.body)) agent = given;
    if (agent == nullptr || record.time < question.from || record.time >= question.until) continue;
    const auto spent = spent_by(record.body);
    if (!spent) continue;
    const std::string model = model_of(*agent, spent->model);
    if (!question.agent.empty() && agent->id != question.agent) continue;
    if (!question.model.empty() && model != question.model) continue;
    const std::string day = day_of(record.time);
    UsageRow& row = rows[{day, agent->id, model}];
    row.day = day;
    row.agent = agent->id;
    row.model = model;
    add(row, spent->usage);
  }
}

}  // namespace

Result<UsageReport> usage_report(Journal& journal, const UsageQuestion& question) {
  UsageReport report;
  Rows rows;
  const auto all =
      walk_journal(journal, {question.from, question.until, question.counts, question.max_sessions},
                   [&](const std::vector<StoredRecord>& records) { add_session(records, question, rows); });
  if (!all) return fail(all.error());
  report.is_complete = *all;
  for (auto& [key, row] : rows) {
    report.total.calls += row.calls;
    report.total.usage += row.usage;
    report.total.has_unknown_price = report.total.has_unknown_price || row.has_unknown_price;
    report.rows.push_back(std::move(row));
  }
  return report;
}

}  // namespace praxis::app
