#include "app/run_agent.hpp"

#include <utility>

#include "app/agent_sources.hpp"
#include "app/command_hooks.hpp"
#include "app/folder_instructions.hpp"
#include "app/hints.hpp"
#include "app/open_runtime.hpp"
#include "app/run_limits.hpp"
#include "app/team_run.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/planners/make_planner.hpp"

namespace praxis::app {
namespace {

/// The agent of the file, with the consent of the user to what its tools reach.
Result<Agent> agent_of_file(const RunAgent& wanted, const Workspace& workspace, const Runtime& runtime,
                            HomeReach& home, FolderInstructionsOfRun& folder) {
  AgentFileOptions options = agent_file_options(workspace, runtime);
  if (!wanted.model.empty()) options.model = wanted.model;
  if (wanted.project) bind_to_project(options, wanted.project);
  options.warn = wanted.warn;
  if (wanted.team != nullptr)
    options.on_team = [&wanted](TeamDescription team) { *wanted.team = std::move(team); };
  home.watch(options);
  folder.give_to(options);
  AgentSources sources;
  auto loaded = load_noted_agent(wanted.file, options, *workspace.model_files, sources);
  if (!loaded) return loaded;
  if (auto agreed = home.check(false, wanted.accept_home); !agreed) return fail(agreed.error());
  if (workspace.keeps_runs() && !workspace.journal_given) keep_sources(sources);
  return loaded;
}

/// Gives an agent its limits, its route and what `reopen_run` needs.
Status prepare(Agent& agent, const RunAgent& wanted, const Workspace& workspace, const HomeReach& home,
               const FolderInstructionsOfRun& folder) {
  if (needs_model(agent.spec()) && agent.spec().model.empty()) {
    return fail(usage_error("no model is set",
                            "give one with --model PROVIDER:NAME, PRAXIS_MODEL or the configuration"));
  }
  Route route = agent.spec().route;
  route.order = wanted.route_order.value_or(route.order);
  route.max_usd = wanted.route_max_usd.value_or(route.max_usd);
  agent.limits(limits_of_run(agent.spec().limits, workspace.config)).route(route);
  remember_place(agent, wanted.project.get(), home.reached());
  folder.note(agent);
  return {};
}

}  // namespace

Result<Agent> agent_for_run(const RunAgent& wanted, const Workspace& workspace, const Runtime& runtime) {
  Agent agent(wanted.model.empty() ? workspace.config.get("model") : wanted.model);
  HomeReach home;
  FolderInstructionsOfRun folder;
  if (!wanted.file.empty()) {
    auto loaded = agent_of_file(wanted, workspace, runtime, home, folder);
    if (!loaded) return loaded;
    agent = *std::move(loaded);
  } else {
    add_command_hooks(agent, workspace.hooks, true);
  }
  TeamDescription alone;
  const bool is_team = wanted.team != nullptr && wanted.team->has_value();
  TeamDescription& team = is_team ? **wanted.team : alone;
  Status status;
  for_each_agent(agent, team, [&](Agent& each, const std::string&) {
    if (status) status = prepare(each, wanted, workspace, home, folder);
  });
  if (!status) return fail(std::move(status.error()));
  if (is_team) note_team(agent, team);
  return agent;
}

}  // namespace praxis::app
