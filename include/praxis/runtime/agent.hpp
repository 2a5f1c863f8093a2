// `Agent` describes an agent, and offers the shortest ways to run it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "praxis/journal/journal.hpp"
#include "praxis/models/model.hpp"
#include "praxis/runtime/hooks.hpp"
#include "praxis/runtime/session.hpp"
#include "praxis/tools/tool.hpp"

#pragma GCC visibility push(default)
namespace praxis {

class Planner;       // praxis/core/planner.hpp
class Reflector;     // praxis/core/planner.hpp
class PromptSource;  // praxis/runtime/user_prompts.hpp
class Runtime;
/// The runtime that a program chose for an agent: the one it gave, or one on a journal of the agent's own,
/// created when the agent is first run. Shared by copies of the agent.
class OwnRuntime;

/// Returns an agent's instructions for the turn that is about to start. Runs on the thread that starts the
/// turn (a worker for a queued one) and may block. If it throws, the event `hook.failed` reports it and the
/// instructions of the previous turn stay.
using InstructionSource = std::function<std::string(const HookContext&)>;

/// Gives the tools that an agent has at this moment beside its own: a list that may change while sessions use
/// it, such as that of a server. Called on a worker thread before each model call, by several sessions at
/// once, and may block. If it throws, or gives a tool that cannot be used (because its name is taken, for
/// example), the event `hook.failed` reports it and the list stays as it was.
using ToolSource = std::function<std::vector<Tool>()>;

/// Of how many tools of sources (`ToolSource`) each request has the definitions. Beyond it, the model gets
/// the tool `search_tools` instead, and the definitions of those that it finds, at the end of the list.
struct ToolSearch {
  std::size_t tools = 40;
  std::size_t bytes = 32 * 1024;  ///< of all definitions as JSON
};

/// Carries out a tool call in place of the library: in another process, on another machine, in a pool of its
/// own. `arguments` fit the tool's schema; `tool.handler(context, arguments)` is what the library would do.
/// Runs on a worker thread, for several calls at once, and may block; it observes `context.stop`. An
/// exception is an error of the call.
using ToolExecutor = ToolSet::Runner;

/// The contents of an `Agent`, shared by the sessions made from it. Immutable once a session uses it.
struct AgentDescription {
  AgentSpec spec;
  ToolSet tools;
  Hooks hooks;
  std::vector<std::pair<std::string, EventHandler>> handlers;
  std::shared_ptr<Model> model;                               ///< null: made from `spec.model`
  std::shared_ptr<const Planner> planner;                     ///< of the host; null: that of `spec.plan`
  std::shared_ptr<const Reflector> reflector;                 ///< null: none
  ToolExecutor executor;                                      ///< null: handlers run in this process
  InstructionSource instructions;                             ///< null: those of `spec`
  std::vector<ToolSource> tool_sources;                       ///< of tools that are not in `spec` and `tools`
  std::vector<std::shared_ptr<PromptSource>> prompt_sources;  ///< for the users of the agent
  ToolSearch search;                                          ///< when tools of sources are searched for
  Status status;                                              ///< the first error in the description
};

/// An agent as a value: cheap to copy (copies share one description until one is changed). Setters return the
/// agent, so that they can be chained. Errors in the description are reported by the first run.
class Agent {
 public:
  explicit Agent(std::string model = {}, std::string instructions = {});
  explicit Agent(AgentSpec spec);

  Agent& id(std::string id);
  Agent& name(std::string name);
  /// What the agent is good at: routing, supervisors and hand-overs choose by it.
  Agent& description(std::string text);
  Agent& model(std::string model);
  /// Uses this model instead of making one by name.
  Agent& model(std::shared_ptr<Model> model);
  /// How calls are distributed when the model is a route (`A|B`).
  Agent& route(Route route);
  Agent& instructions(std::string text);
  /// Resolves the instructions at the start of each turn. Records them when they have changed.
  Agent& instructions(InstructionSource source);
  Agent& options(ModelOptions options);
  Agent& limits(Limits limits);
  /// Requires the answer of every turn to be JSON that follows this JSON Schema.
  Agent& output_schema(Json schema);
  Agent& use(Tool tool);
  Agent& use(std::vector<Tool> tools);
  /// Adds tools from a list that may change. Each model call offers the list of that moment; a change is
  /// recorded before the call. A call of a tool that was removed is an error for the model.
  Agent& tools_from(ToolSource source);
  /// Adds prompts of a server, which a chat offers to its user.
  Agent& prompts_from(std::shared_ptr<PromptSource> source);
  /// Sets when the tools of these lists are found by the tool `search_tools` instead of being sent.
  Agent& search_tools_beyond(ToolSearch bounds);
  /// Allows tools that are not safe by default; names may end in `*`.
  Agent& policy(PolicyRules rules);
  /// Follows a written plan (docs/plans.md), `{"kind": "six_steps"}` (docs/six-steps.md) or `{"kind":
  /// "reflect"}` (docs/plans.md), instead of letting the model decide. Replaces `planner` and `reflector`.
  Agent& plan(Json plan);
  /// Lets a planner of the program decide the steps (docs/library.md). The log records `name`; only a program
  /// with the planner can resume such a session. Replaces `plan`.
  Agent& planner(std::shared_ptr<const Planner> planner, std::string name = "planner");
  /// Lets a reflector of the program look at the results before each step of the planner, or of the model
  /// where the agent has no planner. The log records `name`. Replaces `plan`.
  Agent& reflector(std::shared_ptr<const Reflector> reflector, std::string name = "reflector");
  /// Carries out the tool calls of this agent and of its clones. Rules, hooks, limits and the journal apply
  /// as to any call.
  Agent& executor(ToolExecutor executor);
  Agent& tool_failure(ToolFailureMode mode);
  Agent& in_doubt(InDoubt mode);
  Agent& metadata(Json metadata);
  /// Adds a hook that gives the permission for every call that the rules allow.
  Agent& approve(std::function<Permission(const ToolCall&)> hook);
  /// Adds these hooks after those that the agent has.
  Agent& hooks(Hooks hooks);
  /// Each adds one hook of a kind; see `Hooks` for what it may do.
  Agent& on_outgoing_message(std::function<void(const HookContext&, Message&)> hook);
  Agent& on_before_turn(std::function<void(const HookContext&, AgentSpec&)> hook);
  Agent& on_after_turn(std::function<void(const HookContext&, AgentResult&)> hook);
  Agent& on_before_model(std::function<ModelHookResult(const HookContext&, const History&)> hook);
  Agent& on_after_model(std::function<void(const HookContext&, const ModelResponse&)> hook);
  Agent& on_before_tool(std::function<ToolHookResult(const HookContext&, const ToolCall&)> hook);
  Agent& on_after_tool(std::function<void(const HookContext&, const ToolCall&, Result<ToolOutput>&)> hook);
  Agent& on_pause_check(std::function<std::optional<std::string>(const HookContext&)> hook);
  /// Calls `handler` with the events of all sessions of this agent that match `pattern` (see `selects`). A
  /// pattern that no event can ever match is an error of the description (`check_pattern`).
  Agent& on(std::string pattern, EventHandler handler);
  /// Uses a separate runtime on this journal, which the first run creates.
  Agent& journal(std::shared_ptr<Journal> journal);
  Agent& runtime(std::shared_ptr<Runtime> runtime);

  /// Runs one turn in a new session.
  Result<AgentResult> run(std::string prompt, std::stop_token stop = {}) const;
  /// The same with an answer of type `T`, described with PRAXIS_FIELDS. The model receives its JSON Schema
  /// and gets two chances to correct an invalid answer before that is an error.
  template <DescribedStruct T>
  Result<Typed<T>> run(std::string prompt, std::stop_token stop = {}) const {
    auto session = this->session();
    if (!session) return fail(session.error());
    return session->template ask<T>(std::move(prompt), stop);
  }
  /// Runs one turn in a new session that starts from all of `messages` but the last, which is the prompt.
  /// Errors: as `session(Conversation)`; `kInput` if the last is not a user message.
  Result<AgentResult> run(std::vector<Message> messages, std::stop_token stop = {}) const;
  /// One turn whose events are read while it runs. `stop` interrupts it: a tool that streams another agent
  /// passes on `ToolContext::stop`.
  Run stream(std::string prompt, std::stop_token stop = {}) const;
  /// The same from messages, as `run`.
  Run stream(std::vector<Message> messages, std::stop_token stop = {}) const;
  /// Starts a conversation: several turns that see the earlier ones.
  Result<Session> session() const;
  /// The same with the messages of `start`, which keep their ids. See `Runtime::create_session`.
  Result<Session> session(Conversation start) const;
  /// Resumes the turn of a session from the journal: after a crash, or with approvals of parked steps.
  Result<AgentResult> resume(const SessionId& session, const Approvals& approvals = {}) const;
  /// The same for a turn that was begun by `run<T>`.
  template <DescribedStruct T>
  Result<Typed<T>> resume(const SessionId& session, const Approvals& approvals = {}) const {
    return typed<T>(resume(session, approvals));
  }

  /// Makes this agent a tool for another agent: each call runs a sub-agent on `prompt` and returns its
  /// answer.
  Tool as_tool(std::string name, std::string description) const;

  const AgentSpec& spec() const { return description_->spec; }
  const std::shared_ptr<const AgentDescription>& description() const { return description_; }

 private:
  friend class Runtime;
  AgentDescription& edit();
  std::shared_ptr<Runtime> runtime_or_default() const;

  std::shared_ptr<const AgentDescription> description_;
  std::shared_ptr<OwnRuntime> runtime_;  ///< null: the default one
};

}  // namespace praxis
#pragma GCC visibility pop
