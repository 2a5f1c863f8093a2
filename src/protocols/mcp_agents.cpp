#include "protocols/mcp_agents.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "app/mcp_agent_tools.hpp"
#include "app/mcp_library.hpp"
#include "app/run_agent.hpp"
#include "praxis/core/event.hpp"
#include "protocols/mcp_task_runs.hpp"

namespace praxis::protocols {
namespace {

ServedAnswer failed(const Error& error) { return {error.message, nullptr, true}; }

/// The agents of a workspace. Thread-safe.
class AgentTools {
 public:
  AgentTools(const app::Workspace& workspace, std::shared_ptr<Runtime> runtime)
      : workspace_(workspace), runtime_(std::move(runtime)) {}

  Result<ServedTool> add(const std::string& name) {
    const auto agent = read(name);
    if (!agent) return fail(agent.error());
    const AgentSpec& spec = agent->spec();
    ServedTool tool = app::mcp_tool_of(name, spec);
    names_.emplace_back(tool.name, name);
    ids_.insert(spec.id);
    return tool;
  }

  const std::set<std::string>& ids() const { return ids_; }
  /// Held while an agent is read: its files are read in the current folder, one agent at a time.
  const std::shared_ptr<std::mutex>& reading() const { return reading_; }

  /// The agent of a tool.
  Result<Agent> agent_of(const std::string& tool) const {
    return read(std::ranges::find(names_, tool, &std::pair<std::string, std::string>::first)->second);
  }

  ServedAnswer call(const ServedCall& call) const {
    auto agent = agent_of(call.tool);
    if (!agent) return failed(agent.error());
    auto session = runtime_->create_session(*agent, nullptr, call.caller);
    if (!session) return failed(session.error());
    Run run = session->send(text_message(Role::kUser, app::mcp_prompt_of(call.arguments)));
    const std::stop_callback on_stop(call.stop, [&] { run.interrupt(); });
    for (const Event& event : run) {
      const auto progress = call.progress ? app::mcp_progress_of(event) : std::nullopt;
      if (progress) call.progress(*progress);
    }
    return answer_of(run.report());
  }

 private:
  Result<Agent> read(const std::string& name) const {
    const std::lock_guard lock(*reading_);
    auto choice = app::find_agent_file(workspace_, name);
    if (!choice) return fail(choice.error());
    if (!*choice) return fail(app::no_such_agent(workspace_, name));
    return app::agent_for_run({.file = (*choice)->file, .project = (*choice)->project}, workspace_,
                              *runtime_);
  }

  static ServedAnswer answer_of(const Result<AgentResult>& report) {
    if (!report) return failed(report.error());
    if (report->pending.empty()) return app::mcp_result_of(*report);
    const std::string& run = report->session.str();
    return app::mcp_waits(
        report->session,
        "'praxis approve " + run + "' shows the question, 'praxis resume " + run + "' continues it.");
  }

  const app::Workspace& workspace_;
  const std::shared_ptr<Runtime> runtime_;
  std::vector<std::pair<std::string, std::string>> names_;  ///< of the tool and of the agent
  std::set<std::string> ids_;                               ///< of the agents
  const std::shared_ptr<std::mutex> reading_ = std::make_shared<std::mutex>();
};

void offer_tasks(McpServing& serving, const std::shared_ptr<AgentTools>& agents,
                 const std::shared_ptr<McpTaskRuns>& runs) {
  serving.begin = [agents, runs](const ServedCall& call) -> Result<ServedTask> {
    auto agent = agents->agent_of(call.tool);
    if (!agent) return fail(std::move(agent.error()));
    return runs->begin(*agent, app::mcp_prompt_of(call.arguments), call.caller);
  };
  serving.offer.tasks = {
      [runs](const std::string& id) { return runs->find(id); },
      [runs](const std::string& id, const JsonObject& answers) { return runs->answer(id, answers); },
      [runs](const std::string& id) { return runs->cancel(id); }};
}

}  // namespace

Result<McpServing> serve_agents(const app::Workspace& workspace, std::shared_ptr<Runtime> runtime,
                                const std::vector<std::string>& names,
                                const std::function<void(const std::string&, const Error&)>& left_out) {
  const std::shared_ptr<Journal> journal(runtime, &runtime->journal());
  const auto agents = std::make_shared<AgentTools>(workspace, runtime);
  McpServing serving;
  serving.offer.instructions = app::kMcpInstructions;
  std::optional<Error> unread;
  for (const std::string& name : names.empty() ? app::agent_names(workspace) : names) {
    auto tool = agents->add(name);
    if (!tool) {
      if (!names.empty()) return fail(std::move(tool.error()));
      left_out(name, tool.error());
      unread = std::move(tool.error());
      continue;
    }
    if (std::ranges::find(serving.offer.tools, tool->name, &ServedTool::name) == serving.offer.tools.end())
      serving.offer.tools.push_back(*std::move(tool));
  }
  if (serving.offer.tools.empty() && unread) return fail(*std::move(unread));
  serving.call = [agents](const ServedCall& call) { return agents->call(call); };
  const auto is_served = [agents](const SessionRow& row) { return agents->ids().contains(row.agent); };
  offer_tasks(serving, agents,
              std::make_shared<McpTaskRuns>(workspace, std::move(runtime), agents->reading(), is_served));
  app::offer_runs(serving.offer.reading, workspace, journal, is_served);
  app::offer_prompts(serving.offer.reading, workspace);
  return serving;
}

}  // namespace praxis::protocols
