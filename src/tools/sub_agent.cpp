#include "praxis/tools/sub_agent.hpp"

#include "praxis/tools/tool.hpp"

namespace praxis {
namespace {

std::unexpected<Error> no_session() {
  return fail(ErrorCode::kInput, "this call is not part of a session, so it has no place in an agent tree");
}

}  // namespace

Result<AgentResult> SubAgent::run(std::string prompt) {
  if (auto started = start(std::move(prompt)); !started) return fail(started.error());
  return wait();
}

Status SubAgent::start(std::string prompt) {
  if (!session_) return fail(session_.error());
  return (*session_)->start(std::move(prompt));
}

Result<AgentResult> SubAgent::report() {
  if (!session_) return fail(session_.error());
  return (*session_)->wait();
}

void SubAgent::on_end(ReportDone done) {
  if (!session_) return done(fail(session_.error()));
  (*session_)->on_end(std::move(done));
}

void SubAgent::steer(std::string text) {
  if (session_) (*session_)->steer(std::move(text));
}

void SubAgent::interrupt() {
  if (session_) (*session_)->interrupt();
}

Result<ToolOutput> as_output(Result<AgentResult> report) {
  auto result = finished(report);
  if (result && result->success)
    return ToolOutput{std::move(result->text), std::move(result->structured), {}, {}};
  if (!report) return fail(std::move(report.error()));
  Error error = result ? make_error(ErrorCode::kTool, "it waits for an approver") : std::move(result.error());
  error.message = "agent \"" + report->agent + "\" did not finish (" +
                  std::string(report->reason ? to_string(*report->reason) : to_string(report->status)) +
                  "): " + error.message;
  return fail(std::move(error));
}

Result<ToolOutput> ContinuingHandler::operator()(ToolContext& context, const Json& arguments) const {
  auto agents = begin(context, arguments);
  if (!agents) return fail(std::move(agents.error()));
  if (context.scope && context.scope->continue_after(*agents)) return ToolOutput{};
  std::vector<Result<AgentResult>> reports;
  for (SubAgent& agent : *agents) reports.push_back(agent.report());
  return end(context, arguments, std::move(reports));
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
