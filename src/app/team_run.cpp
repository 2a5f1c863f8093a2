#include "app/team_run.hpp"

#include <utility>

#include "app/agent_sources.hpp"
#include "praxis/planners/make_planner.hpp"

namespace praxis::app {
namespace {

constexpr const char* kTeamRun = "team_run";
const std::string kSupervisor = "/supervisor";  ///< no id of a member has a slash

JsonObject metadata_of(const Agent& agent) {
  const auto* metadata = agent.spec().metadata.if_object();
  return metadata != nullptr ? *metadata : JsonObject{};
}

}  // namespace

void for_each_agent(Agent& own, TeamDescription& team,
                    const std::function<void(Agent& agent, const std::string& name)>& change) {
  change(own, own.spec().id);
  for (Agent& member : team.members) change(member, member.spec().id);
  if (team.supervisor) change(*team.supervisor, kSupervisor);
}

void note_team(Agent& own, TeamDescription& team) {
  const JsonObject of_file = metadata_of(own);
  JsonObject agents;
  for_each_agent(own, team, [&](const Agent& agent, const std::string& name) {
    agents[name] =
        JsonObject{{"limits", to_json(agent.spec().limits)}, {"route", to_json(agent.spec().route)}};
  });
  const Json entry = JsonObject{{"file", json_at(of_file, "agent_file")},
                                {"model", needs_model(own.spec()) ? own.spec().model : ""},
                                {"agents", std::move(agents)}};
  for_each_agent(own, team, [&](Agent& agent, const std::string&) {
    JsonObject metadata = metadata_of(agent);
    metadata[kTeamRun] = entry;
    metadata[kAgentFiles] = json_at(of_file, kAgentFiles);
    agent.metadata(std::move(metadata));
  });
}

void forget_team(JsonObject& metadata) { metadata.erase(kTeamRun); }

void RecordedTeam::restore(Agent& agent, const std::string& name) const {
  const Json& recorded = json_at(agents, name);
  if (recorded.is_null()) return;
  agent.limits(limits_from_json(json_at(recorded, "limits")));
  Route route;
  if (read_route(json_at(recorded, "route"), route)) agent.route(route);
}

RecordedTeam recorded_team(const Json& metadata) {
  const Json& entry = json_at(metadata, kTeamRun);
  return {json_string(entry, "file"), json_string(entry, "model"), json_at(entry, "agents")};
}

bool team_is_busy(const State& state) {
  return state.turn || (state.team && (!state.team->pending.empty() || !state.team->next.empty()));
}

bool team_goes_on(const State& state) {
  return !state.turn && team_is_busy(state) && result_of(state).success;
}

Status restore_strategy(Team& team, const Strategy& strategy, const State& state) {
  const bool is_recorded = state.team && state.team->strategy == strategy.form();
  return is_recorded || !team_is_busy(state) ? team.route_message(strategy) : Status{};
}

}  // namespace praxis::app
