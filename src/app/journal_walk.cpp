#include "app/journal_walk.hpp"

#include <algorithm>
#include <variant>

namespace praxis::app {

Result<bool> walk_journal(Journal& journal, WalkRange range,
                          const std::function<void(const std::vector<StoredRecord>&)>& each) {
  auto sessions = journal.sessions();
  if (!sessions) return fail(sessions.error());
  std::erase_if(*sessions, [&](const SessionRow& row) {
    return row.updated < range.from || row.created >= range.until || row.entries == 0;
  });
  std::ranges::sort(*sessions, std::ranges::greater{}, &SessionRow::updated);
  std::size_t read = 0;
  for (const SessionRow& row : *sessions) {
    if (range.counts && !range.counts(row.id)) continue;
    if (read++ == range.max_sessions) return false;
    if (const auto records = read_records(journal, row.id)) each(*records);
  }
  return true;
}

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

const AgentSpec* agent_in(const RecordBody& body) {
  if (const auto* created = std::get_if<records::SessionCreated>(&body)) return created->agent.get();
  const auto* const intervened = std::get_if<records::Intervened>(&body);
  return intervened == nullptr ? nullptr : intervened->agent.get();
}

std::string model_of(const AgentSpec& agent, const std::string& answered) {
  const bool is_route = agent.model.contains('|');
  return is_route && !answered.empty() ? answered : agent.model;
}

std::string day_of(UnixMillis time) {
  constexpr std::size_t kDayLength = 10;  // of 2026-01-31
  return to_iso8601(time).substr(0, kDayLength);
}

}  // namespace praxis::app
