#include "praxis/tools/sub_agent.hpp"

#include <algorithm>

#include "praxis/base/reach.hpp"
#include "praxis/tools/tool.hpp"

namespace praxis {
namespace {

std::unexpected<Error> no_session() {
  return fail(ErrorCode::kInput, "this call is not part of a session, so it has no place in an agent tree");
}

/// Whether the turn was stopped while something it had begun may have taken effect.
bool stopped_in_doubt(const AgentResult& result) {
  const bool stopped = result.reason == StopReason::kCancelled || result.reason == StopReason::kTimeLimit;
  return stopped && std::ranges::count(result.actions, Outcome::kUnknown, &ActionResult::outcome) != 0;
}

}  // namespace

Result<ToolOutput> as_output(Result<AgentResult> result) {
  if (!result) return fail(result.error());
  if (result->success) return ToolOutput{std::move(result->text), std::move(result->structured), {}, {}};
  Error error = result->error.value_or(make_error(ErrorCode::kTool, "it was stopped"));
  error.message = "agent \"" + result->agent + "\" did not finish (" +
                  std::string(to_string(result->reason.value_or(StopReason::kCancelled))) +
                  "): " + error.message;
  if (stopped_in_doubt(*result)) error = with_reach(std::move(error), Reach::kSent);
  return fail(std::move(error));
}

SubAgent ToolContext::spawn(std::string model, std::string instructions, std::vector<Tool> given) {
  AgentSpec spec;
  spec.model = std::move(model);
  spec.instructions = std::move(instructions);
  return spawn(std::move(spec), std::move(given));
}

SubAgent ToolContext::spawn(AgentSpec spec, std::vector<Tool> given) {
  if (!scope) return SubAgent(no_session());
  return SubAgent(scope->spawn(std::move(spec), std::move(given)));
}

SubAgent ToolContext::clone() {
  if (!scope) return SubAgent(no_session());
  return SubAgent(scope->clone({}));
}

SubAgent ToolContext::fork(std::string prompt) {
  if (!scope) return SubAgent(no_session());
  SubAgent forked(scope->clone(prompt));
  if (auto started = forked.start(std::move(prompt)); !started) return SubAgent(fail(started.error()));
  return forked;
}

Result<ToolOutput> ToolContext::call_tool(std::string name, const Json& arguments) {
  if (!scope) return no_session();
  return scope->call(std::move(name), to_json_text(arguments));
}

std::vector<Tool> ToolContext::tools() const { return scope ? scope->tools() : std::vector<Tool>{}; }

}  // namespace praxis
