// MCP over HTTP: agents are tools, a call is a run, and what a client may read are the runs and prompts that
// its principal may. The specification calls this transport Streamable HTTP.
#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "app/mcp_agent_tools.hpp"
#include "app/mcp_library.hpp"
#include "app/mcp_task_run.hpp"
#include "app/shown_run.hpp"
#include "mcp/server_answers.hpp"
#include "mcp/server_headers.hpp"
#include "praxis/runtime/commands.hpp"
#include "server/client_conversation.hpp"
#include "server/handlers.hpp"
#include "server/mcp_codec.hpp"
#include "server/mcp_errors.hpp"
#include "server/route_rights.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kMcpDepth = 64;
constexpr const char* kSessionHeader = "mcp-session-id";

/// One message of a client.
struct McpPost {
  Service& service;
  const Call& call;
  const HttpReply& reply;
  const McpMessage& message;
  std::string session;  ///< empty: none

  const Principal& principal() const { return call.principal; }
  bool is_stateless() const { return !mcp_version_of(message).empty(); }
};

std::string session_of(const Call& call) {
  return std::string(find_header(call.headers, kSessionHeader).value_or(""));
}

/// Error: the client must open a session, because it has none or the server does not know it any more.
Status check_session(Service& service, const Call& call, const Json& id) {
  const std::string session = session_of(call);
  if (session.empty()) {
    return fail(
        mcp_refusal(id, {{}, kRpcInvalidRequest, "the header Mcp-Session-Id is missing", nullptr}, 400));
  }
  if (service.mcp->use(session, call.principal.account())) return {};
  return fail(mcp_refusal(id, not_found("session", session)));
}

/// The right that a method needs; nothing: any client may use it.
std::optional<Right> right_of_method(std::string_view method) {
  if (method.starts_with("tools/") || method == "tasks/update") return Right::kRun;
  if (method == "tasks/get") return Right::kReadHistory;
  if (method == "tasks/cancel") return Right::kIntervene;
  if (method.starts_with("resources/")) return Right::kReadHistory;
  if (method.starts_with("prompts/")) return Right::kChangePrompts;
  return std::nullopt;
}

// ---- what a principal is offered

/// The agent whose tool has this name; empty if the principal may use none.
std::string agent_of_tool(const McpPost& post, const std::string& tool) {
  for (const std::string& name : app::agent_names(*post.service.workspace)) {
    if (post.principal().may_use(name) && app::mcp_tool_name(name) == tool) return name;
  }
  return {};
}

/// The tools that the request is about: reading an agent takes time.
std::vector<ServedTool> served_tools(const McpPost& post) {
  std::vector<ServedTool> tools;
  if (post.message.method == "tools/call") {
    const std::string tool = json_string(post.message.body, "name");
    if (!agent_of_tool(post, tool).empty()) tools.push_back({tool, {}, app::mcp_tool_parameters()});
  }
  if (post.message.method != "tools/list") return tools;
  for (const std::string& name : app::agent_names(*post.service.workspace)) {
    if (!post.principal().may_use(name)) continue;
    const auto agent = post.service.runs->described(name);
    if (!agent) continue;  // `praxis doctor` and the start of a run say why
    ServedTool tool = app::mcp_tool_of(name, agent->spec());
    if (std::ranges::find(tools, tool.name, &ServedTool::name) == tools.end())
      tools.push_back(std::move(tool));
  }
  return tools;
}

/// Interrupts a run on a worker.
void interrupt_run(const std::shared_ptr<Runs>& runs, const std::shared_ptr<Runtime>& runtime,
                   const SessionId& run, const Author& author) {
  runs->post([runtime, run, author] {
    // An error: it has ended by itself.
    std::ignore = runtime->command({Command{CommandVerb::kInterrupt, run, {}, author}});
  });
}

/// The run of a task, which is one that the principal may see.
Result<app::StoredSession> run_of_task(Service& service, const Principal& principal, const std::string& id) {
  Runs& runs = *service.runs;
  const SessionId run(id);
  if (!id.empty() && runs.lineages().root_of(run) == run && runs.may_see(principal, run)) {
    if (auto stored = runs.stored(run)) return stored;
  }
  return fail(ErrorCode::kInput, "there is no task \"" + id + '"');
}

Result<ServedTask> task_of(const Service& service, app::StoredSession stored) {
  const auto pending = waiting_steps(stored);
  if (!pending) return fail(pending.error());
  const auto shown = app::shown_run(std::move(stored), service.redactions);
  if (!shown) return fail(shown.error());
  return app::mcp_task_of(*shown, *pending);
}

Status answer_task(Service& service, const Principal& principal, const std::string& id,
                   const JsonObject& answers) {
  const auto stored = run_of_task(service, principal, id);
  if (!stored) return fail(stored.error());
  const auto pending = waiting_steps(*stored);
  if (!pending) return fail(pending.error());
  std::vector<ClientDecision> decisions;
  for (app::McpDecision& each : app::mcp_decisions(stored->id, *pending, answers))
    decisions.push_back({.step = std::move(each.step),
                         .approves = each.approval.verb != ApprovalVerb::kReject,
                         .text = std::move(each.approval.text)});
  if (decisions.empty()) return {};
  const auto decided = decide_for_client(service, stored->id, decisions, principal, "inputResponses");
  return decided ? Status() : Status(fail(decided.error()));
}

/// The calls of a principal as tasks.
McpServedTasks tasks_for(const McpPost& post) {
  McpServedTasks tasks;
  tasks.find = [&service = post.service, principal = post.principal()](const std::string& id) {
    auto stored = run_of_task(service, principal, id);
    return stored ? task_of(service, *std::move(stored)) : Result<ServedTask>(fail(stored.error()));
  };
  tasks.answer = [&service = post.service, principal = post.principal()](const std::string& id,
                                                                         const JsonObject& answers) {
    return answer_task(service, principal, id, answers);
  };
  tasks.cancel = [&service = post.service, principal = post.principal()](const std::string& id) -> Status {
    const auto stored = run_of_task(service, principal, id);
    if (!stored) return fail(stored.error());
    if (stored->state.turn) interrupt_run(service.runs, service.runtime, stored->id, author_of(principal));
    return {};
  };
  return tasks;
}

McpServed served_to(const McpPost& post) {
  McpServed served;
  const Rights& rights = post.principal().rights;
  served.version = PRAXIS_VERSION;
  served.has_tools = rights.has(Right::kRun);
  if (served.has_tools) {
    served.instructions = app::kMcpInstructions;
    served.tools = served_tools(post);
    served.tasks = tasks_for(post);
  }
  if (rights.has(Right::kReadHistory)) {
    app::offer_runs(served.reading, *post.service.workspace, post.service.journal,
                    [runs = post.service.runs, principal = post.principal()](const SessionRow& row) {
                      return row.parent.empty() && runs->may_see(principal, row.id);
                    });
  }
  if (rights.has(Right::kChangePrompts)) app::offer_prompts(served.reading, *post.service.workspace);
  return served;
}

// ---- calls

/// In version 2026-07-28 a client cancels a request by closing its connection, in earlier ones by a message.
void cancel_when_gone(const McpPost& post, const std::shared_ptr<McpRunningCall>& running) {
  post.reply.on_gone([sessions = post.service.mcp, weak = std::weak_ptr(post.service.runs),
                      runtime = post.service.runtime, running, author = author_of(post.principal())] {
    const auto runs = weak.lock();
    if (!runs || sessions->is_stopped()) return;
    if (const SessionId run = running->cancel(); !run.empty()) interrupt_run(runs, runtime, run, author);
  });
}

NewRun run_of_call(const McpPost& post, const McpCallRequest& wanted, const std::shared_ptr<McpCodec>& codec,
                   const std::shared_ptr<McpRunningCall>& running,
                   const std::shared_ptr<TurnFollower>& following, const std::shared_ptr<BeginWatch>& watch) {
  NewRun run{.agent = agent_of_tool(post, wanted.tool), .prompt = app::mcp_prompt_of(wanted.arguments)};
  run.done = [watch, running](const Result<AgentResult>& result) {
    running->end();
    watch->report(result);
  };
  run.prepare = [codec, running, following](const SessionId& id) {
    codec->set_run(id);
    running->set_run(id);
    return following->watch(id);
  };
  return run;
}

HttpAnswer json_answer(const Json& id, const McpAnswer& given) {
  return {200,
          {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
          mcp_answer_text(id, given) + "\n"};
}

/// Begins a run and answers with it as a task, once its first message is durable.
Status begin_task(const McpPost& post, McpServed served, const McpCallRequest& wanted) {
  Principal principal = post.principal();
  if (wanted.caller != TraceContext{}) principal.span = wanted.caller;
  NewRun run{.agent = agent_of_tool(post, wanted.tool), .prompt = app::mcp_prompt_of(wanted.arguments)};
  post.service.runs->create(
      std::move(run), principal,
      [&service = post.service, answer = post.call.answer, reply = post.reply, id = post.message.id,
       served = std::move(served)](const Result<Created>& made) {
        if (!made) return answer(fail(mcp_refusal(id, made.error())));
        ++service.counters.runs_created;
        auto stored = service.runs->stored(made->id);
        if (!stored) return answer(fail(mcp_refusal(id, stored.error())));
        const auto shown = app::shown_run(*std::move(stored), service.redactions);
        if (!shown) return answer(fail(mcp_refusal(id, shown.error())));
        reply.send(json_answer(id, mcp_task_answer(served, app::mcp_task_of(*shown, {}))));
      });
  return {};
}

Status call_agent(const McpPost& post, McpServed served, const McpCallRequest& wanted) {
  if (wanted.as_task) return begin_task(post, std::move(served), wanted);
  const Json& id = post.message.id;
  const auto running = post.service.mcp->begin_call(post.session, to_json_text(id));
  if (!running) {
    return fail(mcp_refusal(
        id, {{}, kRpcInvalidRequest, "a request with this id is running in this session", nullptr}, 400));
  }
  const auto accepted = find_header(post.call.headers, "accept").value_or("");
  const auto codec = std::make_shared<McpCodec>(
      McpCodec::Form{id, wanted.progress_token, post.is_stateless()}, std::move(served), running);
  const auto following = std::make_shared<TurnFollower>(post.service, post.reply, codec,
                                                        accepted.contains("text/event-stream")
                                                            ? TurnFollower::Gives::kStream
                                                            : TurnFollower::Gives::kWhenEnded);
  const auto watch = std::make_shared<BeginWatch>();
  Principal principal = post.principal();
  if (wanted.caller != TraceContext{}) principal.span = wanted.caller;
  if (post.is_stateless()) cancel_when_gone(post, running);
  post.service.runs->create(run_of_call(post, wanted, codec, running, following, watch), principal,
                            [&service = post.service, answer = post.call.answer, id, running, following,
                             watch, author = author_of(principal)](const Result<Created>& made) {
                              if (!made) return answer(fail(mcp_refusal(id, made.error())));
                              ++service.counters.runs_created;
                              following->follow();
                              watch->give(following);
                              // Cancelled before there was a run to interrupt.
                              if (running->is_cancelled())
                                interrupt_run(service.runs, service.runtime, made->id, author);
                            });
  return {};
}

// ---- messages

/// The status of an answer. With a handshake, HTTP only says that the message arrived.
int http_of(const McpPost& post, const McpAnswer& answer) {
  if (answer.error == 0 || !post.is_stateless()) return 200;
  if (answer.error == kRpcUnknownMethod) return 404;
  return answer.error == kRpcInternal ? 500 : 400;
}

Status answer_request(const McpPost& post) {
  const Json& id = post.message.id;
  if (const auto right = right_of_method(post.message.method)) {
    if (auto may = check_right(post.principal(), *right); !may) return fail(mcp_refusal(id, may.error()));
  }
  McpServed served = served_to(post);
  auto answer = answer_mcp(served, post.message);
  if (const auto* wanted = std::get_if<McpCallRequest>(&answer))
    return call_agent(post, std::move(served), *wanted);
  const auto& given = std::get<McpAnswer>(answer);
  if (const int http = http_of(post, given); http != 200) return fail(mcp_refusal(id, given, http));
  HttpAnswer sent = json_answer(id, given);
  if (post.message.method == "initialize")
    sent.headers.emplace_back("Mcp-Session-Id", post.service.mcp->open(post.principal().account()));
  post.reply.send(std::move(sent));
  return {};
}

Status take_request(McpPost post) {
  const Json& id = post.message.id;
  if (const auto refusal = refuse_mcp_headers(post.call.headers, post.message))
    return fail(mcp_refusal(id, *refusal, 400));
  if (!post.is_stateless() && post.message.method != "initialize") {
    if (auto known = check_session(post.service, post.call, id); !known) return known;
    post.session = session_of(post.call);
  }
  return answer_request(post);
}

/// Takes a message that wants no answer.
Status take_notification(const McpPost& post) {
  if (const std::string session = session_of(post.call); !session.empty()) {
    if (auto known = check_session(post.service, post.call, nullptr); !known) return known;
    const Json& request = json_at(post.message.body, "requestId");
    const auto running = post.message.method == "notifications/cancelled"
                             ? post.service.mcp->call_of(session, to_json_text(request))
                             : nullptr;
    if (const SessionId run = running ? running->cancel() : SessionId(); !run.empty())
      interrupt_run(post.service.runs, post.service.runtime, run, author_of(post.principal()));
  }
  post.reply.send({202, {}, ""});
  return {};
}

}  // namespace

Status mcp_post(Service& service, const Call& call, const HttpReply& reply) {
  const auto message =
      read_mcp_message(call.body, {.max_depth = kMcpDepth, .max_bytes = call.body.size() + 1});
  if (!message)
    return fail(mcp_refusal(nullptr, {{}, kRpcParseError, message.error().message, nullptr}, 400));
  McpPost post{service, call, reply, *message, {}};
  return message->kind == McpMessage::Kind::kRequest ? take_request(std::move(post))
                                                     : take_notification(post);
}

Result<HttpAnswer> mcp_end(Service& service, const Call& call) {
  if (auto known = check_session(service, call, nullptr); !known) return fail(known.error());
  service.mcp->end(session_of(call), call.principal.account());
  return HttpAnswer{204, {}, ""};
}

}  // namespace praxis::server
