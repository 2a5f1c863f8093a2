// A2A 1.0: the push notification configurations of a task.
#include <utility>

#include "server/a2a_errors.hpp"
#include "server/a2a_operations.hpp"
#include "server/a2a_push.hpp"
#include "server/a2a_request.hpp"

namespace praxis::server {
namespace {

/// Without token and credentials: others who may see the task must not learn them.
Json push_json(const app::PushAddress& address) {
  JsonObject json{{"id", address.id}, {"taskId", address.task}, {"url", address.url}};
  if (!address.scheme.empty()) json["authentication"] = JsonObject{{"scheme", address.scheme}};
  return json;
}

/// What a request about the configurations of a task is about.
struct PushTarget {
  A2aPush& push;
  std::string task;
};

/// The task must be one that the principal may see.
Result<PushTarget> push_target(const A2aRequest& request) {
  const auto push = push_of_a2a(request);
  if (!push) return fail(push.error());
  const auto name = read_a2a_id(request.params, "taskId");
  if (!name) return fail(name.error());
  const auto found = find_a2a_task(request, *name);
  if (!found) return fail(found.error());
  return PushTarget{**push, found->id.text()};
}

}  // namespace

Result<A2aPush*> push_of_a2a(const A2aRequest& request) {
  if (request.service.push) return request.service.push.get();
  return fail(a2a_error("PUSH_NOTIFICATION_NOT_SUPPORTED", "this server sends no push notifications"));
}

Status create_a2a_push(A2aRequest& request, const HttpReply& reply) {
  const auto target = push_target(request);
  if (!target) return fail(target.error());
  auto address = read_a2a_push(request.params);
  if (!address) return fail(address.error());
  address->task = target->task;
  if (address->id.empty()) address->id = request.service.runtime->environment().new_id();
  if (auto added = target->push.add(*address); !added) return added;
  reply.send(request.form.answer(push_json(*address)));
  return {};
}

Status get_a2a_push(A2aRequest& request, const HttpReply& reply) {
  const auto target = push_target(request);
  if (!target) return fail(target.error());
  const auto id = read_a2a_id(request.params, "id");
  if (!id) return fail(id.error());
  const auto found = target->push.find(target->task, *id);
  if (!found)
    return fail(a2a_error("TASK_NOT_FOUND", "task " + target->task +
                                                " has no push notification configuration \"" + *id + "\""));
  reply.send(request.form.answer(push_json(*found)));
  return {};
}

Status list_a2a_push(A2aRequest& request, const HttpReply& reply) {
  const auto target = push_target(request);
  if (!target) return fail(target.error());
  JsonArray configs;
  for (const app::PushAddress& address : target->push.of_task(target->task))
    configs.push_back(push_json(address));
  reply.send(request.form.answer(JsonObject{{"configs", std::move(configs)}, {"nextPageToken", ""}}));
  return {};
}

Status delete_a2a_push(A2aRequest& request, const HttpReply& reply) {
  const auto target = push_target(request);
  if (!target) return fail(target.error());
  const auto id = read_a2a_id(request.params, "id");
  if (!id) return fail(id.error());
  if (auto removed = target->push.remove(target->task, *id); !removed) return removed;
  reply.send(request.form.answer(JsonObject{}));
  return {};
}

}  // namespace praxis::server
