// A tool is a definition that the model sees and a handler that does the work. Handlers are ordinary blocking
// code. They run on a worker thread with a context that identifies the caller and signals cancellation.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/base/ids.hpp"
#include "praxis/core/history.hpp"
#include "praxis/domain/agent_spec.hpp"
#include "praxis/domain/tool_definition.hpp"
#include "praxis/domain/trace.hpp"
#include "praxis/json/schema.hpp"
#include "praxis/tools/sub_agent.hpp"

#pragma GCC visibility push(default)
namespace praxis {

class Environment;  // praxis/base/environment.hpp
struct ToolContext;

/// A change that a call made to a memory, reported in the result of the turn. The session remembers the
/// arguments of the call that changed each key last (`CallScope::read_memory`).
struct MemoryChange {
  std::string store;
  std::string key;
  std::string operation;  ///< `put` or `delete`
};
Json to_json(const MemoryChange& change);

/// What a handler returns. The model receives `text`; invalid UTF-8 in it is repaired.
struct ToolOutput {
  std::string text;
  Json value;  ///< structured form for programs and plans; null: `text` is complete
  std::vector<ImagePart> images;
  std::vector<MemoryChange> memory;
  std::vector<FilePart> files = {};
};

/// What a handler returns instead of an output when it was stopped or got no answer: an error that states its
/// `Reach` (praxis/base/reach.hpp). With `kSent`, the outcome of the call is `unknown`, and the model reads
/// that it may or may not have taken effect. An error that states none counts as `kSent` if its code is
/// `kCancelled` and the tool is not idempotent, else as `kAnswered`.
using ToolHandler = std::function<Result<ToolOutput>(ToolContext&, const Json& arguments)>;
/// A `ToolHandler` in two halves, for a call that waits for sub-agents. `begin` starts them and returns;
/// `end` makes the output from their reports, in the same order. In between, the call holds no thread and no
/// stack, however long its sub-agents wait. Like the others, the handler runs again after a crash if the tool
/// is idempotent, and finds the sub-agents that it had. A handler that calls this one waits for its output.
struct ContinuingHandler {
  std::function<Result<std::vector<SubAgent>>(ToolContext&, const Json& arguments)> begin;
  std::function<Result<ToolOutput>(ToolContext&, const Json& arguments,
                                   std::vector<Result<AgentResult>> reports)>
      end;
  Result<ToolOutput> operator()(ToolContext& context, const Json& arguments) const;
};
/// Whether a call with these arguments waits for an approval. Runs on any thread; must not block. If it
/// throws, the call waits.
using ApprovalPredicate = std::function<bool(const Json& arguments)>;

/// Definition, handler and failure handling. A value: copies share the handler. A connector to an external
/// system needs nothing else: metadata (id, description, safe by default) is in the definition, and the
/// handler takes JSON and returns text, with structured data in `value`.
struct Tool {
  ToolDefinition definition;
  ToolHandler handler;
  std::uint32_t retries = 0;  ///< further attempts after a failure that is marked retriable
  /// About how long the first retry waits; each further one waits twice as long, at most 30 s.
  Millis retry_delay{500};
  bool fatal_errors = false;  ///< a failure ends the turn instead of going back to the model
  ResultFrom result_from = ResultFrom::kHandler;  ///< any other, as of `ask_user_tool`: no handler runs
  /// The calls that wait for an approval, in addition to `ToolDefinition::needs_approval`; null: none.
  ApprovalPredicate approval_when = nullptr;

  /// Returns this tool with every call parked until it is approved.
  Tool needs_approval() const;
  /// Returns this tool with those calls parked until they are approved that `when` selects.
  Tool needs_approval(ApprovalPredicate when) const;
  /// Whether `approval_when` selects a call with these arguments (JSON text). A call whose arguments cannot
  /// be read is selected.
  bool asks_approval_of(std::string_view arguments) const;
};

/// What a session records about a tool.
ToolSpec spec_of(const Tool& tool);

/// For a handler that needs access which only a human can grant. The call waits for an approver, who sees
/// `prompt`. If approved, the handler runs again; if rejected, the model receives the rejection.
std::unexpected<Error> fail_authorisation(std::string prompt);

/// For a handler that must know something which only a human can say. The call waits as a question; then the
/// handler runs again: the last of `ToolContext::answers` has the answer, or says that the person gave no
/// answer. `schema`: JSON Schema of the answer; null: any text. `state` is recorded, and comes back with the
/// answer; what the handler did before must not matter, because the process may be another one.
std::unexpected<Error> fail_question(std::string prompt, Json schema = nullptr, Json state = nullptr);

/// Identifies the caller and its limits. Valid during the call only; a handler must not keep a reference.
struct ToolContext {
  SessionId session;
  std::string agent;  ///< agent id
  CallId call;
  std::string idempotency_key;  ///< the same for every attempt at this call
  std::uint32_t attempt = 1;
  std::uint32_t depth = 0;  ///< depth of the session in the agent tree; 0 is a root
  TraceContext trace = {};  ///< the span of this attempt, for what the handler calls (`traceparent`, `state`)
  std::stop_token stop;     ///< requested: return soon
  std::chrono::steady_clock::time_point deadline;
  History conversation;  ///< as the model saw it
  Environment* environment = nullptr;
  Json metadata;                     ///< of the agent
  std::vector<CallAnswer> answers;   ///< to the questions of this call (`fail_question`), the oldest first
  std::shared_ptr<CallScope> scope;  ///< implements the methods below; null outside a session

  /// Creates a sub-agent. If `model` is empty, it uses the caller's.
  SubAgent spawn(std::string model, std::string instructions, std::vector<Tool> tools = {});
  SubAgent spawn(AgentSpec spec, std::vector<Tool> tools = {});
  /// Creates a sub-agent with the caller's prompts, tools and history.
  SubAgent clone();
  /// Creates a clone that starts working on `prompt`; wait for it with `SubAgent::wait`.
  SubAgent fork(std::string prompt);
  /// Calls a tool of the agent. The call is checked against the rules and recorded like a call of the model.
  Result<ToolOutput> call_tool(std::string name, const Json& arguments);
  /// The agent's tools, for passing on to sub-agents.
  std::vector<Tool> tools() const;
  /// Publishes the transient event `tool.progress`. `fraction` is the part that is done, from 0 to 1. No-op
  /// outside a session and after the end of the call.
  void progress(std::string text, std::optional<double> fraction = std::nullopt) const;
};

/// The tools of one agent by unique name, each with its compiled schema. Thread-safe once all tools are
/// added.
class ToolSet {
 public:
  /// Error `kInput`: an invalid definition, or a duplicate name.
  Status add(Tool tool);
  /// Null if unknown.
  const Tool* find(std::string_view name) const;
  const std::vector<Tool>& tools() const { return tools_; }
  bool empty() const { return tools_.empty(); }
  /// What the model sees, in the order added. Shared, so that requests do not copy it.
  std::shared_ptr<const std::vector<ToolDefinition>> definitions() const { return definitions_; }

  /// Parses `text` and validates it against the tool's schema. Error `kTool`, `detail.kind` one of
  /// `not_found` (names the nearest tool) or `invalid_arguments`. The message is written for the model and
  /// names each invalid path.
  Result<Json> arguments(std::string_view name, std::string_view text) const;
  /// Runs one call with arguments that fit the tool's schema.
  using Runner = std::function<Result<ToolOutput>(ToolContext&, const Tool&, const Json& arguments)>;
  /// Validates, then runs the handler on the calling thread, or `runner` unless it is null. Turns an
  /// exception of either into an error.
  Result<ToolOutput> execute(ToolContext& context, std::string_view name, std::string_view arguments,
                             const Runner& runner = nullptr) const;

 private:
  std::vector<Tool> tools_;
  std::vector<JsonSchema> schemas_;
  std::shared_ptr<const std::vector<ToolDefinition>> definitions_;
};

}  // namespace praxis
#pragma GCC visibility pop
