// A2A 1.0: its operations, over JSON-RPC and over HTTP+JSON. A task is a turn of one of our runs, and a
// context is the run; everything that a task shows comes from the log.
#include <algorithm>
#include <array>
#include <utility>

#include "server/a2a_errors.hpp"
#include "server/a2a_operations.hpp"
#include "server/a2a_request.hpp"
#include "server/route_rights.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kMostRunsListed = 200, kMostTurnsListed = 100;
constexpr std::string_view kVersion = "1.0";

/// Which version the client speaks: without a word about it, an old one.
Status check_version(const Call& call) {
  std::string version(find_header(call.headers, "a2a-version").value_or(""));
  if (version.empty()) version = call.parameter("A2A-Version");
  if (version == kVersion || version.starts_with(std::string(kVersion) + ".")) return {};
  return fail(a2a_error("VERSION_NOT_SUPPORTED",
                        (version.empty() ? "a request without A2A-Version is one of version 0.3"
                                         : "version " + version + " is not supported") +
                            "; this server speaks 1.0: send A2A-Version: 1.0"));
}

/// Gives a silent codec what the log holds, and for what the turn waits.
Status fold(A2aCodec& codec, const app::StoredSession& stored) {
  std::string ignored;
  if (replay_into(stored.records, 0, 0, codec, ignored)) return {};
  const auto pending = waiting_steps(stored);
  if (!pending) return fail(pending.error());
  if (!pending->empty()) codec.take_wait(*pending, ignored);
  return {};
}

// ---- tasks

Status send_op(A2aRequest& request, const HttpReply& reply) {
  return send_a2a_message(request, reply, false);
}
Status stream_op(A2aRequest& request, const HttpReply& reply) {
  return send_a2a_message(request, reply, true);
}

Result<FoundTask> named_task(const A2aRequest& request) {
  const auto name = read_a2a_task(request.params);
  if (!name) return fail(name.error());
  return find_a2a_task(request, *name);
}

Status get_op(A2aRequest& request, const HttpReply& reply) {
  const auto history = read_a2a_history(request.params);
  if (!history) return fail(history.error());
  const auto found = named_task(request);
  if (!found) return fail(found.error());
  A2aCodec codec(found->id, request.form);
  if (auto folded = fold(codec, found->stored); !folded) return folded;
  reply.send(request.form.answer(codec.task(*history)));
  return {};
}

Status subscribe_op(A2aRequest& request, const HttpReply& reply) {
  const auto found = named_task(request);
  if (!found) return fail(found.error());
  const auto codec = std::make_shared<A2aCodec>(found->id, request.form);
  const auto following =
      std::make_shared<TurnFollower>(request.service, reply, codec, TurnFollower::Gives::kStream);
  if (auto watched = following->watch(found->id.run); !watched) return watched;
  const auto stored = request.service.runs->stored(found->id.run);  // with what came before it was watched
  if (!stored) return fail(stored.error());
  following->replay(*stored);
  if (codec->has_ended()) return fail(a2a_task_ended(found->id));
  const auto pending = waiting_steps(*stored);
  if (!pending) return fail(pending.error());
  std::string ignored;
  if (!pending->empty()) codec->take_wait(*pending, ignored);
  following->begin_with(codec->speak());
  following->follow();
  return {};
}

Status cancel_op(A2aRequest& request, const HttpReply& reply) {
  const auto found = named_task(request);
  if (!found) return fail(found.error());
  const SessionId& run = found->id.run;
  request.form.is_bare = true;
  const auto codec = std::make_shared<A2aCodec>(found->id, request.form);
  const auto following =
      std::make_shared<TurnFollower>(request.service, reply, codec, TurnFollower::Gives::kWhenEnded);
  if (auto watched = following->watch(run); !watched) return watched;
  const auto stored = request.service.runs->stored(run);  // with what came before it was watched
  if (!stored) return fail(stored.error());
  following->replay(*stored);
  following->ignore_waits();
  const Error ended = a2a_error("TASK_NOT_CANCELABLE", "task " + found->id.text() + " has ended");
  if (codec->has_ended()) return fail(ended);
  auto stopped = request.service.runtime->command(
      {Command{CommandVerb::kInterrupt, run, {}, author_of(request.call.principal)}});
  if (!stopped) {
    const auto now = request.service.runs->stored(run);
    return now && !now->state.turn ? Status(fail(ended)) : stopped;
  }
  following->follow();
  return {};
}

// ---- lists

struct ListedTask {
  UnixMillis time;
  std::string id;
  Json task;

  /// The later one is before the earlier one.
  bool is_before(const ListedTask& other) const {
    return time.value != other.time.value ? time.value > other.time.value : id > other.id;
  }
  std::string token() const { return std::to_string(time.value) + "." + id; }
};

/// The runs of the agent that changed last.
Result<std::vector<SessionId>> runs_to_list(const A2aRequest& request, const A2aList& list) {
  Service& service = request.service;
  if (!list.context.empty()) {
    const SessionId run = run_of_a2a_context(request, list.context);
    return run.empty() ? std::vector<SessionId>{} : std::vector<SessionId>{run};
  }
  auto rows = service.journal->sessions();
  if (!rows) return fail(rows.error());
  std::ranges::sort(*rows, [](const SessionRow& a, const SessionRow& b) {
    return a.updated.value != b.updated.value ? a.updated.value > b.updated.value : a.id > b.id;
  });
  std::vector<SessionId> runs;
  for (const SessionRow& row : *rows) {
    if (runs.size() == kMostRunsListed) break;
    const bool fits =
        row.parent.empty() && row.entries > 0 && (request.agent.id.empty() || row.agent == request.agent.id);
    if (fits && service.runs->may_see(request.call.principal, row.id)) runs.push_back(row.id);
  }
  return runs;
}

Status add_tasks(const A2aRequest& request, const SessionId& run, const A2aList& list,
                 std::vector<ListedTask>& tasks) {
  const auto stored = request.service.runs->stored(run);
  if (!stored) return fail(stored.error());
  const auto& marks = stored->state.marks;
  for (std::size_t i = marks.size() - std::min(marks.size(), kMostTurnsListed); i < marks.size(); ++i) {
    A2aCodec codec(A2aTaskId{run, marks[i].turn}, request.form);
    if (auto folded = fold(codec, *stored); !folded) return folded;
    if (!list.state.empty() && list.state != codec.state()) continue;
    if (codec.time().value < list.after.value) continue;
    tasks.push_back(
        {codec.time(), A2aTaskId{run, marks[i].turn}.text(), codec.task(list.history, list.with_artifacts)});
  }
  return {};
}

Status list_op(A2aRequest& request, const HttpReply& reply) {
  const auto list = read_a2a_list(request.params);
  if (!list) return fail(list.error());
  const auto runs = runs_to_list(request, *list);
  if (!runs) return fail(runs.error());
  std::vector<ListedTask> tasks;
  for (const SessionId& run : *runs) {
    if (auto added = add_tasks(request, run, *list, tasks); !added) return added;
  }
  std::ranges::sort(tasks, [](const ListedTask& a, const ListedTask& b) { return a.is_before(b); });
  auto next = tasks.begin();
  if (!list->page_token.empty()) {
    next = std::ranges::find(tasks, list->page_token, &ListedTask::token);
    if (next == tasks.end())
      return fail(field_error("pageToken", "is not one of this list any more; begin again"));
    ++next;
  }
  JsonArray page;
  std::string token;
  while (next != tasks.end() && page.size() < list->page_size) {
    page.push_back(std::move(next->task));
    token = next->token();
    ++next;
  }
  reply.send(request.form.answer(JsonObject{{"tasks", std::move(page)},
                                            {"nextPageToken", next == tasks.end() ? std::string() : token},
                                            {"pageSize", list->page_size},
                                            {"totalSize", tasks.size()}}));
  return {};
}

// ---- what is left

Status card_op(A2aRequest& request, const HttpReply& reply) {
  reply.send(request.form.answer(extended_card(request.service, request.call, request.agent)));
  return {};
}

using A2aOperation = Status (*)(A2aRequest&, const HttpReply&);

/// An operation as JSON-RPC names it, with the right that its own route needs as well.
struct RpcOperation {
  std::string_view name;
  A2aOperation run;
  Right right;
};

constexpr std::array<RpcOperation, 11> kOperations{{
    {"SendMessage", send_op, Right::kRun},
    {"SendStreamingMessage", stream_op, Right::kRun},
    {"GetTask", get_op, Right::kReadHistory},
    {"ListTasks", list_op, Right::kReadHistory},
    {"CancelTask", cancel_op, Right::kIntervene},
    {"SubscribeToTask", subscribe_op, Right::kReadHistory},
    {"CreateTaskPushNotificationConfig", create_a2a_push, Right::kRun},
    {"GetTaskPushNotificationConfig", get_a2a_push, Right::kRun},
    {"ListTaskPushNotificationConfigs", list_a2a_push, Right::kRun},
    {"DeleteTaskPushNotificationConfig", delete_a2a_push, Right::kRun},
    {"GetExtendedAgentCard", card_op, Right::kRun},
}};

Status run_operation(Service& service, const Call& call, const HttpReply& reply, A2aForm form, Json params,
                     A2aOperation operation) {
  if (auto spoken = check_version(call); !spoken) return spoken;
  if (auto may = check_agent(call, call.name("agent")); !may) return may;
  auto agent = a2a_agent(service, call.name("agent"));
  if (!agent) return fail(agent.error());
  const std::string tenant = json_string(params, "tenant");
  if (!tenant.empty() && tenant != agent->name)
    return fail(field_error("tenant", "is not the agent of this address"));
  A2aRequest request{service, call, std::move(form), std::move(params), *std::move(agent)};
  return operation(request, reply);
}

/// The parameters in path and query.
Json query_params(const Call& call) {
  JsonObject params;
  for (const auto& [key, value] : call.query) {
    const bool is_number = key == "historyLength" || key == "pageSize";
    const bool is_bool = key == "includeArtifacts";
    params[key] = is_number || is_bool ? parse_json(value).value_or(Json(value)) : Json(value);
  }
  if (const auto id = call.names.find("task"); id != call.names.end()) params["id"] = id->second;
  return params;
}

Status run_rest(Service& service, const Call& call, const HttpReply& reply, A2aOperation operation) {
  return run_operation(service, call, reply, {}, query_params(call), operation);
}

Result<Json> rest_body(const Call& call) {
  auto body = call.body.empty() ? Result<Json>(JsonObject{}) : parse_json(call.body);
  if (!body) return fail(a2a_error("PARSE_ERROR", "the body is not valid JSON: " + body.error().message));
  if (!body->is_object()) return fail(field_error("body", "must be a JSON object"));
  return body;
}

/// The path names the task, and the configuration that the request is about; a new one is named by the body.
Status run_rest_push(Service& service, const Call& call, const HttpReply& reply, Json params,
                     A2aOperation operation) {
  JsonObject& object = params.get_object();
  object["taskId"] = call.name("task");
  if (const auto config = call.names.find("config"); config != call.names.end())
    object["id"] = config->second;
  return run_operation(service, call, reply, {}, std::move(params), operation);
}

Status run_rest_body(Service& service, const Call& call, const HttpReply& reply, A2aOperation operation) {
  auto body = rest_body(call);
  if (!body) return fail(body.error());
  if (const auto id = call.names.find("task"); id != call.names.end()) body->get_object()["id"] = id->second;
  return run_operation(service, call, reply, {}, *std::move(body), operation);
}

Status run_rpc(Service& service, const Call& call, const HttpReply& reply, Json& id) {
  auto body = parse_json(call.body);
  if (!body) return fail(a2a_error("PARSE_ERROR", "the body is not valid JSON: " + body.error().message));
  const Json& given = json_at(*body, "id");
  if (given.is_string() || given.is_number()) id = given;
  const std::string method = json_string(*body, "method");
  if (json_text(*body, "jsonrpc") != "2.0" || id.is_null() || method.empty())
    return fail(a2a_error("INVALID_REQUEST", "a request of JSON-RPC 2.0 has jsonrpc, id and method"));
  const auto found = std::ranges::find(kOperations, method, &RpcOperation::name);
  if (found == kOperations.end())
    return fail(a2a_error("METHOD_NOT_FOUND", "there is no method \"" + method + "\" in A2A 1.0"));
  if (auto may = check_right(call.principal, found->right); !may) return may;
  const Json& params = json_at(*body, "params");
  if (!params.is_null() && !params.is_object()) return fail(field_error("params", "must be an object"));
  return run_operation(service, call, reply, {.is_rpc = true, .id = id},
                       params.is_null() ? Json(JsonObject{}) : params, found->run);
}

}  // namespace

Status a2a_rpc(Service& service, const Call& call, const HttpReply& reply) {
  Json id = nullptr;
  if (auto run = run_rpc(service, call, reply, id); !run) reply.send(a2a_rpc_problem(id, run.error()));
  return {};
}

Status a2a_send(Service& service, const Call& call, const HttpReply& reply) {
  return run_rest_body(service, call, reply, send_op);
}
Status a2a_stream(Service& service, const Call& call, const HttpReply& reply) {
  return run_rest_body(service, call, reply, stream_op);
}
Status a2a_get(Service& service, const Call& call, const HttpReply& reply) {
  return run_rest(service, call, reply, get_op);
}
Status a2a_list(Service& service, const Call& call, const HttpReply& reply) {
  return run_rest(service, call, reply, list_op);
}
Status a2a_cancel(Service& service, const Call& call, const HttpReply& reply) {
  return run_rest_body(service, call, reply, cancel_op);
}
Status a2a_subscribe(Service& service, const Call& call, const HttpReply& reply) {
  return run_rest(service, call, reply, subscribe_op);
}
Status a2a_create_push(Service& service, const Call& call, const HttpReply& reply) {
  auto body = rest_body(call);
  if (!body) return fail(body.error());
  return run_rest_push(service, call, reply, *std::move(body), create_a2a_push);
}
Status a2a_get_push(Service& service, const Call& call, const HttpReply& reply) {
  return run_rest_push(service, call, reply, query_params(call), get_a2a_push);
}
Status a2a_list_push(Service& service, const Call& call, const HttpReply& reply) {
  return run_rest_push(service, call, reply, query_params(call), list_a2a_push);
}
Status a2a_delete_push(Service& service, const Call& call, const HttpReply& reply) {
  return run_rest_push(service, call, reply, query_params(call), delete_a2a_push);
}
Status a2a_extended_card(Service& service, const Call& call, const HttpReply& reply) {
  return run_rest(service, call, reply, card_op);
}

}  // namespace praxis::server
