#include "protocols/mcp_agents.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "app/run_agent.hpp"
#include "praxis/core/event.hpp"
#include "protocols/mcp_library.hpp"

namespace praxis::protocols {
namespace {

constexpr std::size_t kMaxToolName = 64;

Json prompt_schema() {
  return JsonObject{
      {"type", "object"},
      {"properties", {{"prompt", {{"type", "string"}, {"description", "The task, complete in itself"}}}}},
      {"required", JsonArray{"prompt"}},
      {"additionalProperties", false}};
}

/// A name that every client accepts.
std::string tool_name(const std::string& agent) {
  std::string name;
  for (const char c : agent) {
    const bool is_kept =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    name += is_kept ? c : '_';
  }
  return name.substr(0, kMaxToolName);
}

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
    ServedTool tool{tool_name(name), spec.description, prompt_schema()};
    if (tool.description.empty())
      tool.description = "Runs the agent " + (spec.name.empty() ? name : spec.name) + " on a task.";
    names_.emplace_back(tool.name, name);
    ids_.insert(spec.id);
    return tool;
  }

  const std::set<std::string>& ids() const { return ids_; }

  ServedAnswer call(const ServedCall& call) const {
    const auto found = std::ranges::find(names_, call.tool, &std::pair<std::string, std::string>::first);
    auto agent = read(found->second);
    if (!agent) return failed(agent.error());
    auto session = runtime_->create_session(*agent, nullptr, call.caller);
    if (!session) return failed(session.error());
    Run run = session->send(text_message(Role::kUser, json_string(call.arguments, "prompt")));
    const std::stop_callback on_stop(call.stop, [&] { run.interrupt(); });
    for (const Event& event : run) {
      if (call.progress) report(event, call);
    }
    return answer_of(run.report());
  }

 private:
  Result<Agent> read(const std::string& name) const {
    const std::lock_guard lock(reading_);
    auto choice = app::find_agent_file(workspace_, name);
    if (!choice) return fail(choice.error());
    if (!*choice) return fail(app::no_such_agent(workspace_, name));
    return app::agent_for_run({.file = (*choice)->file, .project = (*choice)->project}, workspace_,
                              *runtime_);
  }

  static void report(const Event& event, const ServedCall& call) {
    const std::string at = event.agent.depth == 0 ? "" : "sub-agent: ";
    if (std::holds_alternative<events::StepStarted>(event.body))
      call.progress(at + "step " + std::to_string(event.step));
    if (const auto* tool = std::get_if<events::ToolStarted>(&event.body))
      call.progress(at + "calls " + tool->name);
  }

  static ServedAnswer answer_of(const Result<AgentResult>& report) {
    if (!report) return failed(report.error());
    ServedAnswer answer;
    answer.structured = {{"run", report->session.str()}, {"status", to_string(report->status)}};
    answer.text = report->text;
    if (!report->pending.empty()) {
      answer.text = "The run waits for a human: 'praxis approve " + report->session.str() +
                    "' shows the question, 'praxis resume " + report->session.str() + "' continues it.";
    } else if (!report->success) {
      answer.is_error = true;
      answer.text = report->error ? report->error->message : "the run did not finish";
    }
    return answer;
  }

  const app::Workspace& workspace_;
  const std::shared_ptr<Runtime> runtime_;
  std::vector<std::pair<std::string, std::string>> names_;  ///< of the tool and of the agent
  std::set<std::string> ids_;                               ///< of the agents
  mutable std::mutex reading_;  ///< agents are read one at a time: their files are read in the current folder
};

}  // namespace

Result<McpServing> serve_agents(const app::Workspace& workspace, std::shared_ptr<Runtime> runtime,
                                const std::vector<std::string>& names,
                                const std::function<void(const std::string&, const Error&)>& left_out) {
  const std::shared_ptr<Journal> journal(runtime, &runtime->journal());
  const auto agents = std::make_shared<AgentTools>(workspace, std::move(runtime));
  McpServing serving;
  serving.instructions = "Each tool runs an agent on the task that is given in `prompt`.";
  std::optional<Error> unread;
  for (const std::string& name : names.empty() ? app::agent_names(workspace) : names) {
    auto tool = agents->add(name);
    if (!tool) {
      if (!names.empty()) return fail(std::move(tool.error()));
      left_out(name, tool.error());
      unread = std::move(tool.error());
      continue;
    }
    if (std::ranges::find(serving.tools, tool->name, &ServedTool::name) == serving.tools.end())
      serving.tools.push_back(*std::move(tool));
  }
  if (serving.tools.empty() && unread) return fail(*std::move(unread));
  serving.call = [agents](const ServedCall& call) { return agents->call(call); };
  serving.reading = serve_library(workspace, journal, agents->ids());
  return serving;
}

}  // namespace praxis::protocols
