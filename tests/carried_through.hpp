// For tests that kill or disturb a process again and again: each process finds the one root session of a
// journal and works on it until its turn ends.
#pragma once

#include <vector>

#include "praxis/praxis.hpp"

namespace praxis::testing {

/// Opens the root session of the journal, with `force` also that of a living process; creates one if none has
/// a record.
inline Result<Session> open_or_begin(Runtime& runtime, const Agent& agent, bool force = false) {
  const auto rows = runtime.journal().sessions(0);
  if (!rows) return fail(rows.error());
  for (const SessionRow& row : *rows) {
    if (row.entries != 0 && row.parent.empty()) return runtime.open_session(row.id, agent, force);
  }
  return runtime.create_session(agent);
}

/// Begins or resumes the turn of a session and returns its report, also when it had ended before.
/// `decide(pending)` returns the decisions on the steps that it parks, as often as it parks some.
template <class Decide>
Result<AgentResult> carried_through(Session session, Decide decide) {
  const bool begun = session.status() != SessionStatus::kIdle;
  if (begun && session.last_result().reason) return session.last_result();
  auto result = begun ? session.resume().report() : session.send_user_message("go").report();
  while (result && result->status == SessionStatus::kAwaitingUser)
    result = session.resume(decide(result->pending)).report();
  return result;
}

}  // namespace praxis::testing
