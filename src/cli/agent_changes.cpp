#include "cli/agent_changes.hpp"

#include "app/hints.hpp"

namespace praxis::cli {

std::function<Status(const app::AgentChange&)> agent_acceptance(const std::string& digest, Console& console) {
  return [digest, &console](const app::AgentChange& change) -> Status {
    if (digest == change.digest) return {};
    console.err.line("the files of the run's agent changed since the run recorded them:");
    for (const std::string& line : change.lines) console.err.line("  " + line);
    if (digest.empty() && can_confirm()) {
      if (confirmed("Continue the run with the files as they are now?", console)) return {};
    }
    return fail(app::usage_error("the run was not continued, because files of its agent changed",
                                 "to continue with them as they are now: --accept-agent " + change.digest));
  };
}

}  // namespace praxis::cli
