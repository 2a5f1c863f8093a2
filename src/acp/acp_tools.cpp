#include "acp/acp_tools.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "acp/acp_program.hpp"
#include "mcp/connection.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/base/reach.hpp"

namespace praxis {
namespace {

using acp::Asked;
using acp::Happening;
using acp::Patience;
using acp::Program;
using acp::Progress;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kVersion = 1;  ///< of the protocol
constexpr int kLoginWanted = -32000;  ///< the error code of an agent that is not logged in
constexpr Millis kLeeway{2'000};      ///< makes our own deadline pass before that of the runtime
constexpr Millis kCancelTime{1'000};  ///< for an agent to end its turn once it was cancelled
constexpr std::size_t kShownTitle = 2000;

std::unexpected<Error> failed(ErrorKind kind, std::string why, Reach reach) {
  return fail(with_reach(make_error(ErrorCode::kTool, kind, std::move(why)), reach));
}

/// The id of the first option of a kind; empty: the agent offers none.
std::string option_of(const Json& params, std::string_view kind) {
  const JsonArray* const options = json_at(params, "options").if_array();
  if (options == nullptr) return {};
  const auto found =
      std::ranges::find_if(*options, [&](const Json& option) { return json_text(option, "kind") == kind; });
  return found == options->end() ? std::string() : json_string(*found, "optionId");
}

Json outcome_of(const std::string& option) {
  if (option.empty()) return JsonObject{{"outcome", JsonObject{{"outcome", "cancelled"}}}};
  return JsonObject{{"outcome", JsonObject{{"outcome", "selected"}, {"optionId", option}}}};
}

/// The action as rules and people see it.
Json action_of(const Json& call) {
  JsonObject action{{"kind", json_string(call, "kind", "other")},
                    {"title", mcp_shown(json_text(call, "title"), kShownTitle)}};
  if (const JsonArray* const places = json_at(call, "locations").if_array()) {
    JsonArray paths;
    for (const Json& place : *places) paths.emplace_back(json_string(place, "path"));
    action["paths"] = std::move(paths);
  }
  if (const Json& input = json_at(call, "rawInput"); !input.is_null()) action["input"] = input;
  if (const Json& content = json_at(call, "content"); !content.is_null()) action["content"] = content;
  return action;
}

/// Tells an action from one that a person has edited. Short, so that it is no secret for any rule of
/// redaction.
Json mark_of(const Json& action) { return JsonObject{{"mark", digest_of(to_json_text(action)).hex(4)}}; }

/// One call of `NAME__ask`, with a program of its own.
class AskCall {
 public:
  AskCall(const AcpAgent& agent, ToolContext& context)
      : agent_(agent), context_(context), deadline_(Clock::now() + agent.start) {}

  Result<ToolOutput> run(const std::string& prompt) {
    auto started = Program::start(agent_);
    if (!started) return fail(std::move(started.error()));
    program_ = *std::move(started);
    if (auto opened = open(); !opened) return fail(with_reach(std::move(opened.error()), Reach::kNotSent));
    deadline_ = Clock::now() + agent_.timeout;
    const JsonArray blocks{JsonObject{{"type", "text"}, {"text", prompt}}};
    const JsonObject params{{"sessionId", session_}, {"prompt", blocks}};
    if (auto sent = program_->request("session/prompt", params, patience()); !sent)
      return fail(std::move(sent.error()));
    auto answer = await();
    if (!answer) return fail(std::move(answer.error()));
    return output_of(json_string(*answer, "stopReason"));
  }

 private:
  Patience patience() const { return {context_.stop, deadline_}; }

  Result<Json> ask(std::string_view method, Json params) {
    if (auto sent = program_->request(method, std::move(params), patience()); !sent)
      return fail(std::move(sent.error()));
    return await();
  }

  /// Agrees on the version and makes a session in the folder.
  Status open() {
    const JsonObject files{{"readTextFile", false}, {"writeTextFile", false}};
    auto greeted =
        ask("initialize", JsonObject{{"protocolVersion", kVersion},
                                     {"clientCapabilities", JsonObject{{"fs", files}, {"terminal", false}}},
                                     {"clientInfo", JsonObject{{"name", "praxis"}, {"version", "0.1"}}}});
    if (!greeted) return fail(std::move(greeted.error()));
    if (const Json& version = json_at(*greeted, "protocolVersion"); version != Json(kVersion)) {
      return fail(ErrorCode::kTool, ErrorKind::kProtocol,
                  "the agent answers with version " + mcp_shown(to_json_text(version), kShownTitle) +
                      " of the Agent Client Protocol, and this client speaks version 1");
    }
    auto made = ask("session/new", JsonObject{{"cwd", agent_.folder}, {"mcpServers", JsonArray{}}});
    if (!made && json_int(made.error().detail(), "rpc_code") == kLoginWanted)
      made.error().message += "; log in with the program itself first";
    if (!made) return fail(std::move(made.error()));
    session_ = json_string(*made, "sessionId");
    if (session_.empty())
      return fail(ErrorCode::kTool, ErrorKind::kProtocol, "the agent gave its session no id");
    program_->use_session(session_);
    return {};
  }

  /// Waits for the answer to the request, and serves the agent meanwhile.
  Result<Json> await() {
    while (auto next = program_->next(patience())) {
      if (const auto* progress = std::get_if<Progress>(&*next)) context_.progress(progress->text);
      if (const auto* asked = std::get_if<Asked>(&*next)) decide(*asked);
      if (auto* answer = std::get_if<Result<Json>>(&*next)) return std::move(*answer);
    }
    return given_up();
  }

  /// The time that a person takes to decide is not the agent's.
  void decide(const Asked& asked) {
    const auto begun = Clock::now();
    std::string option = option_of(asked.params, "reject_once");
    if (option.empty()) option = option_of(asked.params, "reject_always");
    const std::string once = option_of(asked.params, "allow_once");
    if (!once.empty() && is_allowed(json_at(asked.params, "toolCall"))) option = once;
    if (context_.stop.stop_requested()) option.clear();
    program_->answer(asked.id, outcome_of(option));
    deadline_ += Clock::now() - begun;
  }

  /// Whether the rules, or a person whom they ask, allow exactly this action.
  bool is_allowed(const Json& update) {
    auto call = program_->known_call(update);
    if (!call) return false;
    const Json action = action_of(Json(*std::move(call)));
    const auto judged = context_.call_tool(agent_.name + "__permission", action);
    return judged && judged->value == mark_of(action);
  }

  /// Cancels the turn of the agent, which gets a moment to end it.
  std::unexpected<Error> given_up() {
    const bool is_stopped = context_.stop.stop_requested();
    if (!session_.empty()) {
      program_->notify("session/cancel", JsonObject{{"sessionId", session_}});
      const Patience moment{{}, Clock::now() + kCancelTime};
      while (const auto next = program_->next(moment)) {
        if (const auto* asked = std::get_if<Asked>(&*next)) program_->answer(asked->id, outcome_of({}));
        if (std::holds_alternative<Result<Json>>(*next)) break;
      }
    }
    if (is_stopped) {
      return fail(with_reach(make_error(ErrorCode::kCancelled, "the call was stopped, and the agent with it"),
                             Reach::kSent));
    }
    return failed(ErrorKind::kTimeout, "the agent did not answer in time and was ended", Reach::kSent);
  }

  Result<ToolOutput> output_of(const std::string& reason) const {
    ToolOutput output;
    output.text = program_->text();
    if (output.text.empty()) output.text = "(The agent has ended its turn and said nothing.)";
    if (reason == "end_turn") return output;
    if (reason == "max_tokens" || reason == "max_turn_requests") {
      output.text += "\n[The agent stopped early: " + reason + "]";
      return output;
    }
    if (reason == "refusal")
      return failed(ErrorKind::kFailed, "the agent refuses to continue: " + output.text, Reach::kAnswered);
    if (reason == "cancelled")
      return failed(ErrorKind::kFailed, "the agent cancelled its turn: " + output.text, Reach::kAnswered);
    return failed(ErrorKind::kProtocol,
                  "the agent ended its turn for a reason that the protocol does not know: \"" +
                      mcp_shown(reason, kShownTitle) + '"',
                  Reach::kAnswered);
  }

  const AcpAgent& agent_;
  ToolContext& context_;
  Clock::time_point deadline_;
  std::string session_;
  std::unique_ptr<Program> program_;
};

Tool make_ask(const std::shared_ptr<const AcpAgent>& agent) {
  Tool tool;
  ToolDefinition& definition = tool.definition;
  definition.name = agent->name + "__ask";
  definition.description = "Gives work to another agent and waits for its answer. " + agent->description;
  definition.parameters = JsonObject{
      {"type", "object"},
      {"properties",
       JsonObject{
           {"prompt", JsonObject{{"type", "string"},
                                 {"description",
                                  "What the agent is to do; it sees nothing else of this conversation"}}}}},
      {"required", JsonArray{"prompt"}},
      {"additionalProperties", false}};
  definition.timeout = agent->start + agent->timeout + kLeeway;
  tool.handler = [agent](ToolContext& context, const Json& arguments) {
    return AskCall(*agent, context).run(json_string(arguments, "prompt"));
  };
  return tool;
}

/// Runs nothing: that the call was allowed is its result. A person who edits the call allows something else
/// than the agent will do.
Tool make_permission(const AcpAgent& agent) {
  Tool tool;
  ToolDefinition& definition = tool.definition;
  definition.name = agent.name + "__permission";
  definition.description = "An action of " + agent.name + " that needs permission. " + agent.name +
                           "__ask calls it; you never do.";
  definition.parameters = JsonObject{{"type", "object"},
                                     {"properties", JsonObject{{"kind", JsonObject{{"type", "string"}}},
                                                               {"title", JsonObject{{"type", "string"}}},
                                                               {"paths", JsonObject{{"type", "array"}}},
                                                               {"input", JsonObject{}},
                                                               {"content", JsonObject{}}}},
                                     {"required", JsonArray{"kind", "title"}}};
  definition.idempotent = true;
  definition.needs_approval = agent.asks;
  tool.handler = [](ToolContext&, const Json& arguments) -> Result<ToolOutput> {
    ToolOutput output;
    output.text = "Allowed.";
    output.value = mark_of(arguments);
    return output;
  };
  return tool;
}

}  // namespace

Result<std::vector<Tool>> acp_tools(AcpAgent agent) {
  if (agent.description.empty()) agent.description = "It is called \"" + agent.name + "\".";
  std::vector<Tool> tools;
  tools.push_back(make_permission(agent));
  tools.insert(tools.begin(), make_ask(std::make_shared<const AcpAgent>(std::move(agent))));
  for (const Tool& tool : tools) {
    if (auto checked = check(tool.definition); !checked) return fail(std::move(checked.error()));
  }
  return tools;
}

}  // namespace praxis
