#include "praxis/runtime/agent.hpp"

#include <utility>

#include "praxis/planners/make_planner.hpp"
#include "runtime/own_runtime.hpp"

namespace praxis {

namespace {

/// Inserts the agent's instruction source before the host's hooks, so that the hooks see its result.
void add_instruction_hook(AgentDescription& description) {
  if (!description.instructions) return;
  auto& hooks = description.hooks.before_turn;
  hooks.insert(hooks.begin(),
               [source = description.instructions](const HookContext& context, AgentSpec& spec) {
                 spec.instructions = source(context);
               });
}

/// Records that strategies of the program decide; `key` says which one is called `name`.
void name_host_plan(AgentDescription& description, std::string_view key, const std::string& name) {
  Json& plan = description.spec.plan;
  if (json_text(plan, "kind") != kHostPlan) plan = JsonObject{{"kind", kHostPlan}};
  plan.get_object()[key] = name;
}

template <class Hook>
void append(std::vector<Hook>& hooks, std::vector<Hook>&& more) {
  hooks.insert(hooks.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

void add(Hooks& hooks, Hooks more) {
  append(hooks.outgoing_message, std::move(more.outgoing_message));
  append(hooks.before_turn, std::move(more.before_turn));
  append(hooks.after_turn, std::move(more.after_turn));
  append(hooks.before_model, std::move(more.before_model));
  append(hooks.after_model, std::move(more.after_model));
  append(hooks.before_tool, std::move(more.before_tool));
  append(hooks.approve, std::move(more.approve));
  append(hooks.after_tool, std::move(more.after_tool));
  append(hooks.pause_check, std::move(more.pause_check));
}

Agent::Agent(std::string model, std::string instructions) {
  AgentDescription description;
  description.spec.model = std::move(model);
  description.spec.instructions = std::move(instructions);
  description_ = std::make_shared<const AgentDescription>(std::move(description));
}

Agent::Agent(AgentSpec spec) {
  AgentDescription description;
  description.spec = std::move(spec);
  description_ = std::make_shared<const AgentDescription>(std::move(description));
}

/// Copies before the change: running sessions keep the description that they started with.
AgentDescription& Agent::edit() {
  auto copy = std::make_shared<AgentDescription>(*description_);
  AgentDescription& edited = *copy;
  description_ = std::move(copy);
  return edited;
}

Agent& Agent::id(std::string id) {
  edit().spec.id = std::move(id);
  return *this;
}
Agent& Agent::name(std::string name) {
  edit().spec.name = std::move(name);
  return *this;
}
Agent& Agent::description(std::string text) {
  edit().spec.description = std::move(text);
  return *this;
}
Agent& Agent::model(std::string model) {
  AgentDescription& description = edit();
  description.spec.model = std::move(model);
  description.model.reset();
  return *this;
}
Agent& Agent::model(std::shared_ptr<Model> model) {
  AgentDescription& description = edit();
  description.spec.model = model->name();
  description.model = std::move(model);
  return *this;
}
Agent& Agent::route(Route route) {
  edit().spec.route = route;
  return *this;
}
Agent& Agent::instructions(std::string text) {
  instructions(InstructionSource());
  edit().spec.instructions = std::move(text);
  return *this;
}
Agent& Agent::instructions(InstructionSource source) {
  AgentDescription& description = edit();
  if (description.instructions) description.hooks.before_turn.erase(description.hooks.before_turn.begin());
  description.instructions = std::move(source);
  add_instruction_hook(description);
  return *this;
}
Agent& Agent::options(ModelOptions options) {
  edit().spec.options = std::move(options);
  return *this;
}
Agent& Agent::limits(Limits limits) {
  edit().spec.limits = limits;
  return *this;
}

Agent& Agent::output_schema(Json schema) {
  edit().spec.options.output_schema = std::move(schema);
  return *this;
}

Agent& Agent::use(Tool tool) {
  AgentDescription& description = edit();
  ToolSpec spec = spec_of(tool);
  if (auto added = description.tools.add(std::move(tool)); !added) {
    if (description.status) description.status = std::move(added);
    return *this;
  }
  description.spec.tools.push_back(std::move(spec));
  return *this;
}

Agent& Agent::use(std::vector<Tool> tools) {
  for (Tool& tool : tools) use(std::move(tool));
  return *this;
}
Agent& Agent::tools_from(ToolSource source) {
  edit().tool_sources.push_back(std::move(source));
  return *this;
}
Agent& Agent::prompts_from(std::shared_ptr<PromptSource> source) {
  edit().prompt_sources.push_back(std::move(source));
  return *this;
}
Agent& Agent::search_tools_beyond(ToolSearch bounds) {
  edit().search = bounds;
  return *this;
}
Agent& Agent::policy(PolicyRules rules) {
  edit().spec.policy = to_json(rules);
  return *this;
}
Agent& Agent::plan(Json plan) {
  AgentDescription& description = edit();
  description.spec.plan = std::move(plan);
  description.planner.reset();
  description.reflector.reset();
  return *this;
}
Agent& Agent::planner(std::shared_ptr<const Planner> planner, std::string name) {
  AgentDescription& description = edit();
  description.planner = std::move(planner);
  name_host_plan(description, "name", name);
  return *this;
}
Agent& Agent::reflector(std::shared_ptr<const Reflector> reflector, std::string name) {
  AgentDescription& description = edit();
  description.reflector = std::move(reflector);
  name_host_plan(description, "reflector", name);
  return *this;
}
Agent& Agent::executor(ToolExecutor executor) {
  edit().executor = std::move(executor);
  return *this;
}
Agent& Agent::tool_failure(ToolFailureMode mode) {
  edit().spec.tool_failure = mode;
  return *this;
}
Agent& Agent::in_doubt(InDoubt mode) {
  edit().spec.in_doubt = mode;
  return *this;
}
Agent& Agent::metadata(Json metadata) {
  edit().spec.metadata = std::move(metadata);
  return *this;
}
Agent& Agent::approve(std::function<Permission(const ToolCall&)> hook) {
  edit().hooks.approve.push_back(std::move(hook));
  return *this;
}
Agent& Agent::hooks(Hooks hooks) {
  add(edit().hooks, std::move(hooks));
  return *this;
}
Agent& Agent::on_outgoing_message(std::function<void(const HookContext&, Message&)> hook) {
  edit().hooks.outgoing_message.push_back(std::move(hook));
  return *this;
}
Agent& Agent::on_before_turn(std::function<void(const HookContext&, AgentSpec&)> hook) {
  edit().hooks.before_turn.push_back(std::move(hook));
  return *this;
}
Agent& Agent::on_after_turn(std::function<void(const HookContext&, AgentResult&)> hook) {
  edit().hooks.after_turn.push_back(std::move(hook));
  return *this;
}
Agent& Agent::on_before_model(std::function<ModelHookResult(const HookContext&, const History&)> hook) {
  edit().hooks.before_model.push_back(std::move(hook));
  return *this;
}
Agent& Agent::on_after_model(std::function<void(const HookContext&, const ModelResponse&)> hook) {
  edit().hooks.after_model.push_back(std::move(hook));
  return *this;
}
Agent& Agent::on_before_tool(std::function<ToolHookResult(const HookContext&, const ToolCall&)> hook) {
  edit().hooks.before_tool.push_back(std::move(hook));
  return *this;
}
Agent& Agent::on_after_tool(
    std::function<void(const HookContext&, const ToolCall&, Result<ToolOutput>&)> hook) {
  edit().hooks.after_tool.push_back(std::move(hook));
  return *this;
}
Agent& Agent::on_pause_check(std::function<std::optional<std::string>(const HookContext&)> hook) {
  edit().hooks.pause_check.push_back(std::move(hook));
  return *this;
}
Agent& Agent::on(std::string pattern, EventHandler handler) {
  AgentDescription& description = edit();
  if (auto known = check_pattern(pattern); known) {
    description.handlers.emplace_back(std::move(pattern), std::move(handler));
  } else if (description.status) {
    description.status = std::move(known);
  }
  return *this;
}
Agent& Agent::journal(std::shared_ptr<Journal> journal) {
  runtime_ = std::make_shared<OwnRuntime>(std::move(journal));
  return *this;
}
Agent& Agent::runtime(std::shared_ptr<Runtime> runtime) {
  runtime_ = runtime ? std::make_shared<OwnRuntime>(std::move(runtime)) : nullptr;
  return *this;
}

std::shared_ptr<Runtime> Agent::runtime_or_default() const {
  return runtime_ ? runtime_->get() : default_runtime();
}

Result<Session> Agent::session() const { return runtime_or_default()->create_session(*this); }

Result<Session> Agent::session(Conversation start) const {
  return runtime_or_default()->create_session(*this, std::move(start));
}

Result<AgentResult> Agent::run(std::vector<Message> messages, std::stop_token stop) const {
  return stream(std::move(messages), std::move(stop)).result();
}

Run Agent::stream(std::vector<Message> messages, std::stop_token stop) const {
  if (messages.empty() || messages.back().role != Role::kUser)
    return Run::failed(make_error(ErrorCode::kInput, "the last message must be one of the user"));
  Message prompt = std::move(messages.back());
  messages.pop_back();
  auto session = this->session(Conversation{{}, std::move(messages), nullptr});
  if (!session) return Run::failed(session.error());
  return session->send(std::move(prompt), nullptr, std::move(stop));
}

Result<AgentResult> Agent::run(std::string prompt, std::stop_token stop) const {
  return runtime_or_default()->run_once(*this, std::move(prompt), stop);
}

Run Agent::stream(std::string prompt, std::stop_token stop) const {
  auto session = this->session();
  if (session) return session->send_user_message(std::move(prompt), std::move(stop));
  return Run::failed(session.error());
}

Result<AgentResult> Agent::resume(const SessionId& id, const Approvals& approvals) const {
  auto session = runtime_or_default()->open_session(id, *this);
  if (!session) return fail(session.error());
  return session->resume(approvals).result();
}

}  // namespace praxis
