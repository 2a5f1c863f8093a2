// The files that an agent was made from: a run is bound to their bytes, because the agent itself may be able
// to write them. Their digests are in the log of the run, their texts in the user's state folder, to show
// what changed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/model_files.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {

/// Name of the digests in an agent's metadata: an object of digests in hexadecimal, by path.
inline constexpr const char* kAgentFiles = "agent_files";

/// Content of each file of an agent: the agent file as `.`, the files of its sub-agents and instructions by
/// their paths relative to its folder, scripts and cassettes as `model:` and their path as given.
using AgentSources = std::map<std::string, std::string>;

/// Reads an agent file and notes the digests of its files in the agent's metadata. `sources` gets their
/// contents; `models` reads scripts and cassettes, and must be what the runtime reads them with. Errors as
/// `load_agent_file`.
Result<Agent> load_noted_agent(const std::string& path, AgentFileOptions options, ModelFileReader& models,
                               AgentSources& sources);
/// Keeps the texts, so that `changed_sources` can show later what changed. A text that cannot be kept is
/// skipped.
void keep_sources(const AgentSources& sources);

/// How the files of an agent differ from those that a run was recorded with.
struct AgentChange {
  std::string digest;              ///< of the files as they are now; an approver names it to accept them
  std::vector<std::string> lines;  ///< what changed, safe to display
};
/// Compares `sources` with the digests in the recorded metadata. Empty `digest` if nothing changed, or if the
/// run was recorded without digests.
AgentChange changed_sources(const Json& recorded_metadata, const AgentSources& sources);

}  // namespace praxis::app
