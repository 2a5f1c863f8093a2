#include "server/openai.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/tools_of_client.hpp"
#include "server/chat_codec.hpp"
#include "server/chat_request.hpp"
#include "server/handlers.hpp"
#include "server/route_rights.hpp"

namespace praxis::server {
namespace {

Json model_json(const std::string& name) {
  return JsonObject{{"id", name}, {"object", "model"}, {"created", 0}, {"owned_by", "praxis"}};
}

struct ChatFollower {
  std::shared_ptr<ChatCodec> codec;
  std::shared_ptr<TurnFollower> follower;
};

ChatFollower follow_chat(Service& service, const HttpReply& reply, const ChatCompletionRequest& request,
                         std::set<std::string> tools) {
  ChatCodec::Head head{.model = request.model,
                       .created = service.runtime->environment().now().value / 1000,
                       .with_usage = request.with_usage,
                       .tools = std::move(tools),
                       .at_once = !request.results.empty()};
  auto codec = std::make_shared<ChatCodec>(std::move(head), request.run);
  const auto gives = request.streams ? TurnFollower::Gives::kStream : TurnFollower::Gives::kWhenEnded;
  auto follower = std::make_shared<TurnFollower>(service, reply, codec, gives);
  return {std::move(codec), std::move(follower)};
}

/// Gives the run the results of the calls that it waits for.
Status continue_chat(Service& service, const Call& call, const ChatCompletionRequest& request,
                     const HttpReply& reply) {
  if (service.runs->lineages().root_of(request.run) != request.run ||
      !service.runs->may_see(call.principal, request.run))
    return fail(not_found("call", request.results.front().step));
  auto stored = service.runs->stored(request.run);
  if (!stored) return fail(stored.error());
  const auto following =
      follow_chat(service, reply, request, app::external_tools_of(*stored->state.agent)).follower;
  if (auto watched = following->watch(request.run); !watched) return watched;
  stored = service.runs->stored(request.run);  // with what came before it was watched
  if (!stored) return fail(stored.error());
  following->start_after(*stored);
  const auto decided = decide_for_client(service, request.run, request.results, call.principal, "messages");
  if (!decided) return fail(decided.error());
  following->follow();
  return {};
}

}  // namespace

HttpAnswer openai_error(const HttpAnswer& problem) {
  const Json body = parse_json(problem.body).value_or(nullptr);
  const std::string type = problem.status == 401   ? "authentication_error"
                           : problem.status == 404 ? "not_found_error"
                           : problem.status == 429 ? "rate_limit_error"
                           : problem.status >= 500 ? "server_error"
                                                   : "invalid_request_error";
  const Json& field = json_at(body, "field");
  HttpAnswer answer = json_answer(JsonObject{{"error", JsonObject{{"message", json_string(body, "detail")},
                                                                  {"type", type},
                                                                  {"param", field},
                                                                  {"code", json_at(body, "kind")}}}},
                                  problem.status);
  for (const auto& [name, value] : problem.headers) {
    if (name == "WWW-Authenticate" || name == "Retry-After" || name == "Allow")
      answer.headers.emplace_back(name, value);
  }
  return answer;
}

Result<HttpAnswer> list_models(Service& service, const Call& call) {
  JsonArray models;
  for (const std::string& name : app::agent_names(*service.workspace)) {
    if (call.principal.may_use(name)) models.push_back(model_json(name));
  }
  return json_answer(JsonObject{{"object", "list"}, {"data", std::move(models)}});
}

Result<HttpAnswer> show_model(Service& service, const Call& call) {
  const auto names = app::agent_names(*service.workspace);
  if (std::ranges::find(names, call.name("model")) == names.end() ||
      !call.principal.may_use(call.name("model")))
    return fail(not_found("model", call.name("model")));
  return json_answer(model_json(call.name("model")));
}

Status complete_chat(Service& service, const Call& call, const HttpReply& reply) {
  const auto body = parse_json(call.body);
  if (!body || !body->is_object()) return fail(ErrorCode::kInput, "the body must be a JSON object");
  auto request = read_chat_completion(*body);
  if (!request) return fail(request.error());
  if (!request->results.empty()) return continue_chat(service, call, *request, reply);
  std::set<std::string> tools;
  for (const ToolDefinition& tool : request->tools) tools.insert(tool.name);
  const auto [answering, watching] = follow_chat(service, reply, *request, std::move(tools));
  const auto watch = std::make_shared<BeginWatch>();
  NewRun run{.agent = request->model};
  run.content = std::move(request->content);
  run.schema = std::move(request->schema);
  run.before = std::move(request->before);
  run.tools = std::move(request->tools);
  run.prepare = [codec = answering, following = watching](const SessionId& id) {
    codec->set_run(id);
    return following->watch(id);
  };
  run.done = [watch](const Result<AgentResult>& result) { watch->report(result); };
  service.runs->create(
      std::move(run), call.principal,
      [&service, following = watching, watch, answer = call.answer](const Result<Created>& made) {
        if (!made) return answer(fail(made.error()));
        ++service.counters.runs_created;
        following->follow();
        watch->give(following);
      });
  return {};
}

}  // namespace praxis::server
