#include "app/reopen_run.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/command_hooks.hpp"
#include "app/folder_instructions.hpp"
#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/team_run.hpp"
#include "app/tools_of_client.hpp"
#include "app/trust.hpp"
#include "app/values.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/planners/make_planner.hpp"

namespace praxis::app {
namespace {

/// Changes to the folder where the run was started, so that its relative paths are valid again.
Status enter_folder(const AgentSpec& spec) {
  const std::string folder = json_string(spec.metadata, "folder");
  if (folder.empty() || chdir(folder.c_str()) == 0) return {};
  return fail(usage_error(
      "the run was started in " + in_quotes(folder) + ", which is not accessible: " + std::strerror(errno),
      "give the working directory with -C DIR"));
}

Status refuse_change(const AgentChange& change) {
  return fail(usage_error("files of the run's agent changed since the run recorded them",
                          "the digest of what they are now is " + change.digest));
}

/// The project that the run's agent belongs to, still trusted; null for an agent of the user's own.
Result<std::shared_ptr<const Project>> project_of(const AgentSpec& spec) {
  const std::string root = json_string(spec.metadata, "project");
  if (root.empty()) return nullptr;
  auto project = project_at(root);
  if (project->trusted) return project;
  return fail(
      usage_error("the run's agent belongs to a project that does not count: " + project_notice(*project),
                  "praxis trust -C " + shell_word(root)));
}

/// The limits that the run records, with those given now. Patience is that of the configuration.
Limits limits_of(const Limits& recorded, const ReopenOptions& options) {
  Limits limits = options.change_limits ? options.change_limits(recorded) : recorded;
  limits.patience = Millis{0};
  return limits;
}

/// Keeps what the run records about itself and its file does not say, such as for whom it runs.
void keep_metadata(Agent& agent, const AgentSpec& recorded) {
  const auto* kept = recorded.metadata.if_object();
  if (kept == nullptr) return;
  JsonObject metadata = agent.spec().metadata.is_object() ? agent.spec().metadata.get_object() : JsonObject{};
  for (const auto& [key, value] : *kept) {
    if (!metadata.contains(key)) metadata[key] = value;
  }
  agent.metadata(std::move(metadata));
}

/// What a run is opened with.
struct Opening {
  std::shared_ptr<Runtime> runtime;
  Agent agent;
  std::optional<TeamDescription> team = {};  ///< of which `agent` is the first member
};

/// The agent of a run that records no file: its recorded description.
Result<Agent> agent_without_file(const AgentSpec& spec, const ReopenOptions& options,
                                 const Workspace& workspace) {
  if (spec.tools.size() > external_tools_of(spec).size()) {
    return fail(usage_error("the run's agent " + in_quotes(spec.id) +
                                " has tools, but the run records no agent file that defines them",
                            "name it with --agent FILE"));
  }
  AgentSpec own = spec;
  own.tools.clear();
  Agent agent(std::move(own));
  if (auto kept = keep_external_tools(agent, spec); !kept) return fail(kept.error());
  add_command_hooks(agent, workspace.hooks, true);
  if (!options.model.empty()) agent.model(options.model);
  return agent.limits(limits_of(spec.limits, options));
}

/// Gives the agents of a team what the run recorded for them, and records it again.
Status restore_team(Opening& open, const RecordedTeam& recorded, const ReopenOptions& options,
                    const std::function<void(Agent&)>& remember) {
  if (!open.team) {
    return fail(usage_error("the run is the conversation of a team, but its agent file has no [team]",
                            "name the file of the team with --agent FILE"));
  }
  for_each_agent(open.agent, *open.team, [&](Agent& agent, const std::string& name) {
    recorded.restore(agent, name);
    agent.limits(limits_of(agent.spec().limits, options));
    remember(agent);
  });
  note_team(open.agent, *open.team);
  return {};
}

/// Gives the agent of a file what the run recorded for it.
Status restore_agent(Agent& agent, const AgentSpec& spec, const ReopenOptions& options) {
  agent.id(spec.id);
  agent.limits(limits_of(spec.limits, options));
  agent.route(spec.route);
  if (auto kept = keep_external_tools(agent, spec); !kept) return kept;
  keep_metadata(agent, spec);
  return {};
}

/// Reads the files of the run's agent. Errors also if they changed, or reach the home folder, and that is not
/// accepted.
Status read_files(Opening& open, const std::string& file, AgentFileOptions file_options,
                  const AgentSpec& spec, const ReopenOptions& options, const Workspace& workspace,
                  HomeReach& home) {
  home.watch(file_options);
  AgentSources sources;
  auto agent = load_noted_agent(file, file_options, *workspace.model_files, sources);
  if (!agent) return fail(agent.error());
  if (const AgentChange change = changed_sources(spec.metadata, sources); !change.digest.empty()) {
    const Status accepted = options.accept ? options.accept(change) : refuse_change(change);
    if (!accepted) return fail(accepted.error());
  }
  if (auto agreed = home.check(accepts_home(spec.metadata), options.accept_home); !agreed)
    return fail(agreed.error());
  if (workspace.keeps_runs() && !workspace.journal_given) keep_sources(sources);
  open.agent = *std::move(agent);
  return {};
}

/// The agent of the run: its recorded description, with the tools of its file; or its team.
Result<Opening> agent_of(const AgentSpec& spec, const ReopenOptions& options, const Workspace& workspace,
                         const std::shared_ptr<Runtime>& runtime) {
  const RecordedTeam team = recorded_team(spec.metadata);
  const bool is_team = !team.file.empty();
  const std::string recorded = is_team ? team.file : json_string(spec.metadata, "agent_file");
  const std::string& file = options.agent.empty() ? recorded : options.agent;
  if (file.empty()) {
    auto agent = agent_without_file(spec, options, workspace);
    return agent ? Opening{runtime, *std::move(agent)} : Result<Opening>(fail(agent.error()));
  }
  if (std::error_code ignored; !std::filesystem::exists(file, ignored)) {
    return fail(
        usage_error("the run's agent file " + in_quotes(file) + " is gone", "name it with --agent FILE"));
  }
  Opening open{runtime, Agent()};
  AgentFileOptions file_options = agent_file_options(workspace, *runtime);
  const auto project =
      options.agent.empty() ? project_of(spec) : Result<std::shared_ptr<const Project>>(nullptr);
  if (!project) return fail(project.error());
  if (*project) bind_to_project(file_options, *project);
  file_options.folder_instructions = [&spec] { return recorded_folder_instructions(spec); };
  if (is_team) {
    file_options.on_team = [&open](TeamDescription read) { open.team = std::move(read); };
    if (!team.model.empty()) file_options.model = team.model;
  } else if (needs_model(spec)) {
    file_options.model = spec.model;
  }
  if (!options.model.empty()) file_options.model = options.model;
  HomeReach home;
  if (auto read = read_files(open, file, file_options, spec, options, workspace, home); !read)
    return fail(read.error());
  const auto remember = [&](Agent& agent) { remember_place(agent, project->get(), home.reached()); };
  const Status restored =
      is_team ? restore_team(open, team, options, remember) : restore_agent(open.agent, spec, options);
  if (!restored) return fail(restored.error());
  if (!is_team) remember(open.agent);
  return open;
}

Status check_is_root(const StoredSession& stored, const Workspace& workspace) {
  if (stored.state.parent.empty()) return {};
  const auto root = root_of(*stored.journal, stored.id);
  if (!root) return fail(root.error());
  return fail(usage_error(stored.id.str() + " is a sub-agent and resumes with its run",
                          resume_command(workspace, *root)));
}

Result<Opening> prepare(const StoredSession& stored, const Workspace& workspace, ReopenOptions options) {
  if (auto root = check_is_root(stored, workspace); !root) return fail(root.error());
  for (std::string* path : {&options.use.record_to, &options.agent}) {
    if (!path->empty()) *path = std::filesystem::absolute(*path).string();
  }
  if (!options.stays_here) {
    if (auto entered = enter_folder(*stored.state.agent); !entered) return fail(entered.error());
  }
  auto runtime = open_runtime(workspace, options.use);
  if (!runtime) return fail(runtime.error());
  return agent_of(*stored.state.agent, options, workspace, *runtime);
}

/// Opens the conversation with all members, and with the strategy of their file.
Result<OpenRun> open_team(Opening opening, const StoredSession& stored, bool force) {
  auto team = make_team(std::move(opening.agent), *opening.team, opening.runtime);
  if (!team) return fail(team.error());
  if (auto opened = team->open(stored.id, force); !opened) return fail(opened.error());
  if (auto set = restore_strategy(*team, opening.team->strategy(), stored.state); !set)
    return fail(set.error());
  auto session = team->begin();
  if (!session) return fail(session.error());
  return OpenRun{std::move(opening.runtime), *std::move(session), *std::move(team)};
}

Result<OpenRun> open_all(Opening opening, const StoredSession& stored, bool force) {
  if (opening.team) return open_team(std::move(opening), stored, force);
  auto session = opening.runtime->open_session(stored.id, opening.agent, force);
  if (!session) return fail(session.error());
  return OpenRun{std::move(opening.runtime), *std::move(session)};
}

}  // namespace

bool can_continue(const State& state) {
  if (state.turn || !state.agent->plan.is_null()) return false;
  switch (result_of(state).reason.value_or(StopReason::kFinished)) {
    case StopReason::kModelFailed:
    case StopReason::kMaxSteps:
    case StopReason::kMaxToolCalls:
    case StopReason::kTimeLimit:
    case StopReason::kTokenLimit:
    case StopReason::kCostLimit:
      return true;
    default:
      return false;
  }
}

Status check_reopening(const StoredSession& stored, const Workspace& workspace,
                       const ReopenOptions& options) {
  const auto opening = prepare(stored, workspace, options);
  return opening ? Status() : Status(fail(opening.error()));
}

Result<Session> reopen_run_in(const std::shared_ptr<Runtime>& runtime, const StoredSession& stored,
                              const Workspace& workspace, const ReopenOptions& options) {
  if (auto root = check_is_root(stored, workspace); !root) return fail(root.error());
  if (stored.state.team) {
    return fail(usage_error("run " + stored.id.str() +
                                " is the conversation of a team, which this cannot "
                                "continue",
                            resume_command(workspace, stored.id)));
  }
  auto open = agent_of(*stored.state.agent, options, workspace, runtime);
  if (!open) return fail(open.error());
  if (options.adjust) {
    if (auto adjusted = options.adjust(open->agent); !adjusted) return fail(adjusted.error());
  }
  if (options.unfinished) return runtime->open_unfinished(stored.id, open->agent);
  return runtime->open_session(stored.id, open->agent, options.force);
}

Result<OpenRun> reopen_any_in(const std::shared_ptr<Runtime>& runtime, const StoredSession& stored,
                              const Workspace& workspace, const ReopenOptions& options) {
  if (auto root = check_is_root(stored, workspace); !root) return fail(root.error());
  auto opening = agent_of(*stored.state.agent, options, workspace, runtime);
  if (!opening) return fail(opening.error());
  return open_all(*std::move(opening), stored, options.force);
}

Result<OpenRun> reopen_run(const StoredSession& stored, const Workspace& workspace,
                           const ReopenOptions& options) {
  auto opening = prepare(stored, workspace, options);
  if (!opening) return fail(opening.error());
  return open_all(*std::move(opening), stored, options.force);
}

}  // namespace praxis::app
