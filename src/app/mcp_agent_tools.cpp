#include "app/mcp_agent_tools.hpp"

#include <variant>

namespace praxis::app {
namespace {

constexpr std::size_t kMaxToolName = 64;

ServedAnswer answer_about(const SessionId& run, SessionStatus status) {
  ServedAnswer answer;
  answer.structured = {{"run", run.str()}, {"status", to_string(status)}};
  return answer;
}

}  // namespace

std::string mcp_tool_name(const std::string& agent) {
  std::string name;
  for (const char c : agent) {
    const bool is_kept =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    name += is_kept ? c : '_';
  }
  return name.substr(0, kMaxToolName);
}

Json mcp_tool_parameters() {
  return JsonObject{
      {"type", "object"},
      {"properties", {{"prompt", {{"type", "string"}, {"description", "The task, complete in itself"}}}}},
      {"required", JsonArray{"prompt"}},
      {"additionalProperties", false}};
}

ServedTool mcp_tool_of(const std::string& name, const AgentSpec& spec) {
  ServedTool tool{mcp_tool_name(name), spec.description, mcp_tool_parameters()};
  if (tool.description.empty())
    tool.description = "Runs the agent " + (spec.name.empty() ? name : spec.name) + " on a task.";
  return tool;
}

std::string mcp_prompt_of(const Json& arguments) { return json_string(arguments, "prompt"); }

std::optional<std::string> mcp_progress_of(const Event& event) {
  const std::string at = event.agent.depth == 0 ? "" : "sub-agent: ";
  if (std::holds_alternative<events::StepStarted>(event.body))
    return at + "step " + std::to_string(event.step);
  if (const auto* tool = std::get_if<events::ToolStarted>(&event.body)) return at + "calls " + tool->name;
  return std::nullopt;
}

ServedAnswer mcp_result_of(const AgentResult& report) {
  ServedAnswer answer = answer_about(report.session, report.status);
  answer.text = report.text;
  if (!report.success) {
    answer.is_error = true;
    answer.text = report.error ? report.error->message : "the run did not finish";
  }
  return answer;
}

ServedAnswer mcp_waits(const SessionId& run, const std::string& how) {
  ServedAnswer answer = answer_about(run, SessionStatus::kAwaitingUser);
  answer.text = "The run waits for a human: " + how;
  return answer;
}

}  // namespace praxis::app
