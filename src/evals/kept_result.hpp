// Runs of an evaluation have ids that follow from what they are, so that a later evaluation finds them in the
// journal: a run that has ended is read, one that was cut off is resumed, and only one that is not there
// begins.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "praxis/base/digest.hpp"
#include "praxis/base/ids.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::evals {

/// The id of a run that is made from a digest: `K` and half of it, as those of sub-agents.
SessionId id_from(const Digest& digest);

/// A result, and whether it was in the journal, so that nothing was spent on it now.
struct KeptResult {
  AgentResult result;
  bool from_journal = false;
};

/// The result of a run that has ended or waits for a human; nothing if it is not there or has more to do.
/// Error `kJournal`.
Result<std::optional<AgentResult>> result_in_journal(Journal& journal, const SessionId& id);

/// Reads, resumes or begins the run `id`, which puts `message` to `agent`; a new run gets the tags. Blocks
/// until it has ended or waits for a human. Error `kJournal`, or that of the turn.
Result<KeptResult> kept_result(Runtime& runtime, const Agent& agent, const SessionId& id,
                               const Message& message, const std::vector<std::string>& tags);

}  // namespace praxis::evals
