// A tool is a definition that the model sees and a handler that does the work. Handlers are plain blocking
// code; they run on a worker thread with a context that says who is asking and when to stop.
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

#include "praxis/base/environment.hpp"
#include "praxis/base/ids.hpp"
#include "praxis/core/history.hpp"
#include "praxis/domain/tool_definition.hpp"
#include "praxis/json/schema.hpp"
#include "praxis/tools/sub_agent.hpp"

namespace praxis {

struct ToolContext;

/// A change that a tool made to a memory, reported in the result of the turn.
struct MemoryChange {
  std::string store;
  std::string key;
  std::string operation;  ///< `put` or `delete`
};
Json to_json(const MemoryChange& change);

/// What a handler gives back. `text` goes to the model; bytes that are no UTF-8 are repaired on the way.
struct ToolOutput {
  std::string text;
  Json value;  ///< structured form for programs and plans; null when `text` is all there is
  std::vector<ImagePart> images;
  std::vector<MemoryChange> memory;
  std::vector<FilePart> files = {};
};

using ToolHandler = std::function<Result<ToolOutput>(ToolContext&, const Json& arguments)>;

/// Definition, handler and what to do about failures. A value: copies share the handler. It is all that a
/// connector to an outside system needs: metadata (id, description, safe by default) in the definition, and a
/// run that takes JSON and gives `{ok, output}`, with what goes beyond the text in `value`.
struct Tool {
  ToolDefinition definition;
  ToolHandler handler;
  std::uint32_t retries = 0;  ///< further attempts after a failure marked retriable
  bool fatal_errors = false;  ///< a failure ends the turn instead of going back to the model
  bool asks_person = false;   ///< a call is a question to a person (`ask_user_tool`); the handler is not run
};

/// For a handler that lacks access to something which only a person can give it: the call waits for that
/// person, who is shown `prompt`. Allowed, the handler runs again; denied, the model is told so.
std::unexpected<Error> fail_authorisation(std::string prompt);

/// Who calls and how long it may take. Lives as long as the call; a handler must not keep it.
struct ToolContext {
  SessionId session;
  std::string agent;  ///< agent id
  CallId call;
  std::string idempotency_key;  ///< the same for every attempt at this call
  std::uint32_t attempt = 1;
  std::uint32_t depth = 0;  ///< of the session in the agent tree; 0 is a root
  std::stop_token stop;     ///< cancelled: return soon
  std::chrono::steady_clock::time_point deadline;
  History conversation;  ///< as the model saw it
  Environment* environment = nullptr;
  Json metadata;                     ///< the agent's
  std::shared_ptr<CallScope> scope;  ///< what the members below stand on; null outside a session

  /// Makes a sub-agent; an empty model is the caller's.
  SubAgent spawn(std::string model, std::string instructions, std::vector<Tool> tools = {});
  SubAgent spawn(AgentSpec spec, std::vector<Tool> tools = {});
  /// A sub-agent with the caller's prompts, tools and history.
  SubAgent clone();
  /// A clone that works on `prompt` at once; wait for it with `SubAgent::wait`.
  SubAgent fork(std::string prompt);
  /// Calls a tool of the agent, judged and recorded as a call of the model is.
  Result<ToolOutput> call_tool(std::string name, const Json& arguments);
  /// The agent's tools, to hand on to sub-agents.
  std::vector<Tool> tools() const;
};

/// The tools of one agent, by unique name, each with its compiled schema. Immutable once in use, thread-safe.
class ToolSet {
 public:
  /// Error `kInput`: an unusable definition, or a name that is taken.
  Status add(Tool tool);
  /// Null when unknown.
  const Tool* find(std::string_view name) const;
  const std::vector<Tool>& tools() const { return tools_; }
  bool empty() const { return tools_.empty(); }
  /// What a model is shown, in order of addition; shared so that requests do not copy it.
  std::shared_ptr<const std::vector<ToolDefinition>> definitions() const { return definitions_; }

  /// Parses and validates argument text against the tool's schema. Error `kTool`, `detail.kind` one of
  /// `not_found` (with the nearest name) or `invalid_arguments`; its message is written for the model and
  /// names each path.
  Result<Json> arguments(std::string_view name, std::string_view text) const;
  /// Validates, then runs the handler on the calling thread. An exception of the handler becomes an error.
  Result<ToolOutput> execute(ToolContext& context, std::string_view name, std::string_view arguments) const;

 private:
  std::vector<Tool> tools_;
  std::vector<JsonSchema> schemas_;
  std::shared_ptr<const std::vector<ToolDefinition>> definitions_;
};

}  // namespace praxis
