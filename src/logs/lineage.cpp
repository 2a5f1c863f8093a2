#include "logs/lineage.hpp"

#include <utility>

namespace praxis {

Result<std::vector<SessionId>> lineage(Journal& journal, const SessionId& session) {
  std::vector<SessionId> sessions;
  SessionId next = session;
  for (int level = 0; level < kMostLevels && !next.empty(); ++level) {
    auto row = journal.session(next);
    const bool is_missing = !row && row.error().kind() == ErrorKind::kNotFound;
    if (is_missing && !sessions.empty()) break;
    if (!row) return fail(row.error());
    sessions.push_back(std::exchange(next, std::move(row->parent)));
  }
  return sessions;
}

}  // namespace praxis
