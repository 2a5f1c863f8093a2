// A2A 1.0: what its operations share.
#pragma once

#include <string>

#include "server/a2a_card.hpp"
#include "server/a2a_codec.hpp"
#include "server/handlers.hpp"

namespace praxis::server {

/// One operation on an agent.
struct A2aRequest {
  Service& service;
  const Call& call;
  A2aForm form;
  Json params;
  A2aAgent agent;
};

/// A task that exists, and its run.
struct FoundTask {
  A2aTaskId id;
  app::StoredSession stored;
};

/// Error `TASK_NOT_FOUND`: no task of this agent that the principal may see.
Result<FoundTask> find_a2a_task(const A2aRequest& request, const std::string& text);
/// The run of a context as its client names it. Empty: no such run.
SessionId run_of_a2a_context(const A2aRequest& request, const std::string& context);
/// Error `UNSUPPORTED_OPERATION`: the task has ended.
Error a2a_task_ended(const A2aTaskId& id);
/// The push notifications of the server. Error `PUSH_NOTIFICATION_NOT_SUPPORTED`: it sends no notifications.
Result<A2aPush*> push_of_a2a(const A2aRequest& request);
/// Creates, gives, lists and deletes push notification configurations. Errors: of `push_of_a2a`, of
/// `find_a2a_task`; `TASK_NOT_FOUND`, the configuration is missing; of `A2aPush::add`.
Status create_a2a_push(A2aRequest& request, const HttpReply& reply);
Status get_a2a_push(A2aRequest& request, const HttpReply& reply);
Status list_a2a_push(A2aRequest& request, const HttpReply& reply);
Status delete_a2a_push(A2aRequest& request, const HttpReply& reply);
/// Sends a message: to a task that waits or works, into a context, or to a new run.
Status send_a2a_message(A2aRequest& request, const HttpReply& reply, bool streams);

}  // namespace praxis::server
