#include "app/usage_report.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "app/envelope.hpp"
#include "praxis/logs/logs.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kDayLength = 10;  // of 2026-01-31

using Rows = std::map<std::tuple<std::string, std::string, std::string>, UsageRow>;

void add(UsageRow& row, const Usage& usage) {
  ++row.calls;
  row.usage += usage;
  row.has_unknown_price = row.has_unknown_price || cost_or_null(usage).is_null();
}

/// What a settled effect used, if it is a model call; its model as the vendor named it, if there is an
/// answer.
struct Spent {
  Usage usage;
  std::string model;
};
std::optional<Spent> spent_by(const RecordBody& body) {
  if (const auto* lost = std::get_if<records::StatusChanged>(&body); lost != nullptr) {
    return lost->spent == Usage{} ? std::nullopt : std::optional(Spent{lost->spent, {}});
  }
  const auto* const settled = std::get_if<records::EffectSettled>(&body);
  if (settled == nullptr) return std::nullopt;
  if (const auto* answer = std::get_if<ModelResponse>(&settled->result))
    return Spent{answer->usage + answer->failed_usage, answer->model};
  return settled->spent == Usage{} ? std::nullopt : std::optional(Spent{settled->spent, {}});
}

/// The agent that a record gives the session; null for other records.
const AgentSpec* agent_in(const RecordBody& body) {
  if (const auto* created = std::get_if<records::SessionCreated>(&body)) return created->agent.get();
  const auto* const intervened = std::get_if<records::Intervened>(&body);
  return intervened == nullptr ? nullptr : intervened->agent.get();
}

/// Rows go by what users wrote, such as `openai:gpt-5`, not by the version that answered; for a route over
/// several models by the one that answered.
std::string model_of(const AgentSpec& agent, const std::string& answered) {
  const bool is_route = agent.model.contains('|');
  return is_route && !answered.empty() ? answered : agent.model;
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
    const std::string day = to_iso8601(record.time).substr(0, kDayLength);
    UsageRow& row = rows[{day, agent->id, model}];
    row.day = day;
    row.agent = agent->id;
    row.model = model;
    add(row, spent->usage);
  }
}

}  // namespace

Result<UsageReport> usage_report(Journal& journal, const UsageQuestion& question) {
  auto sessions = journal.sessions();
  if (!sessions) return fail(sessions.error());
  std::erase_if(*sessions, [&](const SessionRow& row) {
    return row.updated < question.from || row.created >= question.until || row.entries == 0;
  });
  std::ranges::sort(*sessions, std::ranges::greater{}, &SessionRow::updated);
  UsageReport report;
  Rows rows;
  std::size_t read = 0;
  for (const SessionRow& row : *sessions) {
    if (question.counts && !question.counts(row.id)) continue;
    if (read++ == question.max_sessions) {
      report.is_complete = false;
      break;
    }
    if (const auto records = read_records(journal, row.id)) add_session(*records, question, rows);
  }
  for (auto& [key, row] : rows) {
    report.total.calls += row.calls;
    report.total.usage += row.usage;
    report.total.has_unknown_price = report.total.has_unknown_price || row.has_unknown_price;
    report.rows.push_back(std::move(row));
  }
  return report;
}

}  // namespace praxis::app
