#include "evals/kept_result.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "praxis/core/state.hpp"
#include "praxis/logs/logs.hpp"

namespace praxis::evals {
namespace {

/// The result that the log holds; nothing if there is still something to do.
std::optional<AgentResult> recorded_result(const State& state) {
  AgentResult result = result_of(state);
  if (state.turn) {
    const bool only_waits = result.status == SessionStatus::kAwaitingUser;
    return only_waits ? std::optional(std::move(result)) : std::nullopt;
  }
  const bool has_ended =
      result.reason && *result.reason != StopReason::kModelFailed && *result.reason != StopReason::kCancelled;
  return has_ended ? std::optional(std::move(result)) : std::nullopt;
}

/// Continues a run that has not ended, or begins it where the process died before the prompt was recorded.
Run continued(Session& session, const State& state, bool has_begun, const Message& message) {
  if (state.turn) return session.resume();
  return has_begun ? session.run() : session.send(message);
}

bool starts_turn(const StoredRecord& stored) {
  return std::holds_alternative<records::TurnStarted>(stored.record.body);
}

Result<KeptResult> made(Result<AgentResult> result) {
  if (!result) return fail(result.error());
  return KeptResult{*std::move(result)};
}

}  // namespace

SessionId id_from(const Digest& digest) {
  constexpr std::size_t kIdBytes = 12;
  return SessionId("K" + digest.hex(kIdBytes));
}

Result<std::optional<AgentResult>> result_in_journal(Journal& journal, const SessionId& id) {
  const auto row = journal.session(id);
  if (!row && row.error().kind() == ErrorKind::kNotFound) return std::nullopt;
  const auto records = row ? read_records(journal, id) : fail(row.error());
  if (!records) return fail(records.error());
  const auto state = fold(*records);
  if (!state) return fail(state.error());
  return recorded_result(*state);
}

Result<KeptResult> kept_result(Runtime& runtime, const Agent& agent, const SessionId& id,
                               const Message& message, const std::vector<std::string>& tags) {
  Journal& journal = runtime.journal();
  const auto row = journal.session(id);
  if (!row && row.error().kind() != ErrorKind::kNotFound) return fail(row.error());
  if (!row) {
    auto session = runtime.create_session(agent, Conversation{id.str(), {}, nullptr});
    if (!session) return fail(session.error());
    auto result = session->send(message).report();
    std::ignore = session->close();
    // Lists can then leave the runs of evaluations out, or show them only.
    std::ignore = journal.label(id, {.add_tags = tags});
    return made(std::move(result));
  }
  const auto records = read_records(journal, id);
  if (!records) return fail(records.error());
  const auto state = fold(*records);
  if (!state) return fail(state.error());
  if (auto recorded = recorded_result(*state)) return KeptResult{*std::move(recorded), true};
  auto session = runtime.open_session(id, agent);
  if (!session) return fail(session.error());
  const bool has_begun = std::ranges::any_of(*records, starts_turn);
  auto result = continued(*session, *state, has_begun, message).report();
  std::ignore = session->close();
  return made(std::move(result));
}

}  // namespace praxis::evals
