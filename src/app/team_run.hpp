// What a run of a team records about itself in the metadata of its members, so that it can be opened again.
#pragma once

#include <functional>
#include <string>

#include "praxis/app/agent_file.hpp"
#include "praxis/core/state.hpp"

namespace praxis::app {

/// Calls `change` with the agent of the file, each member and the supervisor, and with the name under which
/// the run records it.
void for_each_agent(Agent& own, TeamDescription& team,
                    const std::function<void(Agent& agent, const std::string& name)>& change);

/// Records in each agent the file of the team, the digests of all files, and the limits and routes of all.
void note_team(Agent& own, TeamDescription& team);
/// Removes such an entry: an agent file must not say so itself.
void forget_team(JsonObject& metadata);

/// What a run of a team recorded.
struct RecordedTeam {
  std::string file;   ///< of the team; empty: the run is not that of a team
  std::string model;  ///< of the agent of that file; empty if it needs none
  Json agents;

  /// Gives an agent the limits and the route that the run recorded for it, if it did.
  void restore(Agent& agent, const std::string& name) const;
};
RecordedTeam recorded_team(const Json& metadata);

/// Whether the team has a turn in progress, or members that are still to answer.
bool team_is_busy(const State& state);
/// Whether the last turn was finished, and other members are still to answer.
bool team_goes_on(const State& state);

/// Gives a team that was opened the strategy of its file: the log holds only a part of some.
Status restore_strategy(Team& team, const Strategy& strategy, const State& state);

}  // namespace praxis::app
