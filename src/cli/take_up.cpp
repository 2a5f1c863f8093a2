#include "cli/take_up.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "praxis/app/agent_file.hpp"
#include "praxis/planners/make_planner.hpp"

namespace praxis::cli {
namespace {

/// Changes to the folder where the run was started, so that its relative paths are valid again.
Status enter_folder(const AgentSpec& spec) {
  const std::string folder = json_string(spec.metadata, "folder");
  if (folder.empty() || chdir(folder.c_str()) == 0) return {};
  return fail(usage_error(
      fmt::format("the run was started in \"{}\", which is not accessible: {}", folder, std::strerror(errno)),
      "give the working directory with -C DIR"));
}

/// The agent of the run: its recorded description, with the tools of its file.
Result<Agent> agent_of(const AgentSpec& spec, const TakeUp& options, const Workspace& workspace,
                       const Runtime& runtime) {
  const std::string file = options.agent.empty() ? json_string(spec.metadata, "agent_file") : options.agent;
  const std::string& model = options.model.empty() ? spec.model : options.model;
  if (file.empty()) {
    if (!spec.tools.empty()) {
      return fail(usage_error(
          fmt::format("the run's agent \"{}\" has tools, but the run records no agent file that defines them",
                      spec.id),
          "name it with --agent FILE"));
    }
    Agent agent(spec);
    return agent.model(model);
  }
  if (std::error_code ignored; !std::filesystem::exists(file, ignored)) {
    return fail(
        usage_error(fmt::format("the run's agent file \"{}\" is gone", file), "name it with --agent FILE"));
  }
  AgentFileOptions file_options = agent_file_options(workspace, runtime);
  if (needs_model(spec) || !options.model.empty()) file_options.model = model;
  auto agent = load_agent_file(file, file_options);
  if (!agent) return agent;
  agent->limits(spec.limits);
  remember_folder(*agent);
  return agent;
}

}  // namespace

Result<OpenRun> take_up(const StoredSession& stored, const Workspace& workspace, TakeUp options) {
  if (!stored.state.parent.empty()) {
    const auto root = root_of(*stored.journal, stored.id);
    if (!root) return fail(root.error());
    return fail(usage_error(fmt::format("{} is a sub-agent and resumes with its run", stored.id.str()),
                            resume_command(workspace, *root)));
  }
  for (std::string* path : {&options.output.file, &options.output.record_to, &options.agent}) {
    if (!path->empty()) *path = std::filesystem::absolute(*path).string();
  }
  if (!options.stays_here) {
    if (auto entered = enter_folder(*stored.state.agent); !entered) return fail(entered.error());
  }
  auto runtime = open_runtime(workspace, options.output);
  if (!runtime) return fail(runtime.error());
  auto agent = agent_of(*stored.state.agent, options, workspace, **runtime);
  if (!agent) return fail(agent.error());
  auto session = (*runtime)->open_session(stored.id, *agent, options.force);
  if (!session) return fail(session.error());
  return OpenRun{std::move(options.output), *std::move(runtime), *std::move(session)};
}

}  // namespace praxis::cli
