#include "praxis/runtime/agent_creator.hpp"

#include <cstdlib>

#include "praxis/runtime/runtime.hpp"
#include "runtime/call_scope.hpp"
#include "runtime/live_child.hpp"

namespace praxis {
namespace {

/// Every scope that a handler gets is a `LiveCall` of the runtime.
LiveCall& live(const std::shared_ptr<CallScope>& scope) { return static_cast<LiveCall&>(*scope); }

Result<Session> session_of(Result<std::shared_ptr<LiveChild>> child) {
  if (!child) return fail(child.error());
  return Session((*child)->actor());
}

/// The handler of a tool that is an agent.
ContinuingHandler handler_of(std::shared_ptr<const AgentDescription> agent) {
  ContinuingHandler handler;
  handler.begin = [agent = std::move(agent)](ToolContext& context,
                                             const Json& arguments) -> Result<std::vector<SubAgent>> {
    if (!context.scope) return fail(ErrorCode::kInput, "this call is not part of a session");
    std::string prompt = json_string(arguments, "prompt");
    auto child = live(context.scope).spawn(agent, agent->spec.id + '\n' + prompt);
    if (!child) return fail(std::move(child.error()));
    if (auto started = (*child)->start(std::move(prompt)); !started) return fail(std::move(started.error()));
    return std::vector{SubAgent(*std::move(child))};
  };
  handler.end = [](ToolContext&, const Json&, std::vector<Result<AgentResult>> reports) {
    return as_output(std::move(reports.front()));
  };
  return handler;
}

std::string default_model() {
  const char* model = std::getenv("PRAXIS_MODEL");
  return model == nullptr ? std::string() : std::string(model);
}

}  // namespace

AgentCreator::AgentCreator(std::shared_ptr<Runtime> runtime)
    : runtime_(runtime ? std::move(runtime) : default_runtime()) {}

AgentCreator::AgentCreator(const ToolContext& context) : scope_(context.scope) {
  if (!scope_) runtime_ = default_runtime();
}

Result<Session> AgentCreator::create(const Agent& agent) const {
  if (!scope_) return runtime_->create_session(agent);
  const AgentSpec& spec = agent.spec();
  return session_of(live(scope_).spawn(agent.description(), spec.id + '\n' + spec.instructions));
}

Result<Session> AgentCreator::create(std::string model, std::string system_prompt,
                                     std::vector<Tool> tools) const {
  Agent agent(std::move(model), std::move(system_prompt));
  return create(agent.use(std::move(tools)));
}

Result<Session> AgentCreator::create_with_default_model(std::string system_prompt,
                                                        std::vector<Tool> tools) const {
  if (!scope_) return create(default_model(), std::move(system_prompt), std::move(tools));
  AgentSpec spec;
  spec.instructions = std::move(system_prompt);
  return session_of(live(scope_).spawn_own(std::move(spec), std::move(tools)));
}

Tool Agent::as_tool(std::string name, std::string description) const {
  Tool tool;
  tool.definition.name = std::move(name);
  tool.definition.description = std::move(description);
  tool.definition.parameters = JsonObject{
      {"type", "object"},
      {"properties",
       JsonObject{{"prompt", JsonObject{{"type", "string"}, {"description", "The task for the agent"}}}}},
      {"required", JsonArray{"prompt"}},
      {"additionalProperties", false}};
  tool.definition.timeout = std::chrono::milliseconds{0};  // the agent has its own limits
  tool.definition.idempotent = true;  // a repeated call finds the session that the first attempt created
  tool.definition.safe_by_default = true;
  tool.handler = handler_of(description_);
  return tool;
}

}  // namespace praxis
