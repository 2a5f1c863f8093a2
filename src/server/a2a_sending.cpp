// A2A 1.0: messages to agents and to their tasks.
#include <algorithm>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>

#include "server/a2a_errors.hpp"
#include "server/a2a_operations.hpp"
#include "server/a2a_push.hpp"
#include "server/a2a_request.hpp"
#include "server/route_rights.hpp"

namespace praxis::server {
namespace {

/// Contexts that clients name do not meet those of other agents.
std::string context_format(const A2aAgent& agent) { return "a2a/" + agent.name; }

bool turn_is_there(const State& state, const TurnId& turn) {
  return (state.turn && state.turn->id == turn) ||
         std::ranges::any_of(state.marks, [&](const TurnMark& mark) { return mark.turn == turn; });
}

using WantedPush = std::optional<app::PushAddress>;

/// Sends the changes of the task where its message wanted them. Errors of `A2aPush::add`.
Status add_push(Service& service, const WantedPush& wanted, const A2aTaskId& task) {
  if (!wanted) return {};
  app::PushAddress address = *wanted;
  address.task = task.text();
  if (address.id.empty()) address.id = service.runtime->environment().new_id();
  return service.push->add(address);
}

class A2aSending {
 public:
  A2aSending(A2aRequest& request, A2aMessage message, bool streams)
      : service_(request.service), request_(request), message_(std::move(message)), streams_(streams) {
    request_.form.history = message_.history;
  }

  Status start(const HttpReply& reply) {
    if (!message_.task.empty()) return to_task(reply);
    if (!message_.decisions.empty())
      return fail(field_error("message.taskId", "is missing: which task waits for the decision?"));
    if (message_.context.empty()) return create(reply);
    const SessionId run = run_of_a2a_context(request_, message_.context);
    return run.empty() ? create(reply) : to_context(run, reply);
  }

 private:
  Json metadata() const {
    JsonObject kept{{"message", message_.id}};
    if (!message_.context.empty()) kept["context"] = message_.context;
    return JsonObject{{kA2aKey, std::move(kept)}};
  }
  /// The codec is silent at first.
  std::shared_ptr<TurnFollower> follower(const std::shared_ptr<A2aCodec>& codec, const HttpReply& reply) {
    const auto gives = streams_                       ? TurnFollower::Gives::kStream
                       : message_.returns_immediately ? TurnFollower::Gives::kWhenBegun
                                                      : TurnFollower::Gives::kWhenEnded;
    return std::make_shared<TurnFollower>(service_, reply, codec, gives);
  }

  /// Answers with an error when the handler has returned, in the form of the request.
  std::function<void(const Error&)> refusal(const HttpReply& reply) const {
    return [answer = request_.call.answer, form = request_.form, reply](const Error& error) {
      form.is_rpc ? reply.send(a2a_rpc_problem(form.id, error)) : answer(fail(error));
    };
  }

  Status create(const HttpReply& reply) {
    NewRun run{.agent = request_.agent.file, .prompt = message_.text, .metadata = metadata()};
    run.idempotency = std::string(find_header(request_.call.headers, "idempotency-key").value_or(""));
    run.request = request_.call.body;
    if (!message_.context.empty())
      run.idempotency = run.request = context_format(request_.agent) + " " + message_.context;
    const auto watch = std::make_shared<BeginWatch>();
    run.done = [watch](const Result<AgentResult>& result) { watch->report(result); };
    const auto codec = std::make_shared<A2aCodec>(A2aTaskId{}, request_.form);
    const auto following = follower(codec, reply);
    run.prepare = [codec, following](const SessionId& id) {
      codec->set_task(A2aTaskId{id, TurnId("t1")});
      return following->watch(id);
    };
    service_.runs->create(std::move(run), request_.call.principal,
                          [&service = service_, push = message_.push, refuse = refusal(reply), codec,
                           following, watch](const Result<Created>& made) {
                            if (!made) return refuse(made.error());
                            if (made->is_new) {
                              ++service.counters.runs_created;
                              if (auto added = add_push(service, push, {made->id, TurnId("t1")}); !added)
                                return refuse(added.error());
                            }
                            if (!made->is_new) {
                              codec->set_task(A2aTaskId{made->id, TurnId("t1")});
                              if (auto watched = following->watch(made->id); !watched)
                                return refuse(watched.error());
                              const auto stored = service.runs->stored(made->id);
                              if (!stored) return refuse(stored.error());
                              following->replay(*stored);
                            }
                            following->begin_with(codec->speak());
                            following->follow();
                            watch->give(following);
                          });
    return {};
  }

  Status to_context(const SessionId& run, const HttpReply& reply) {
    const auto stored = service_.runs->stored(run);
    if (!stored) return fail(stored.error());
    const State& state = stored->state;
    if (!request_.agent.owns(state))
      return fail(field_error("message.contextId", "is that of a conversation with another agent"));
    if (state.turn)
      return fail(a2a_error("UNSUPPORTED_OPERATION", "the context works on task " +
                                                         A2aTaskId{run, state.turn->id}.text() +
                                                         "; a message with this taskId reaches it"));
    const A2aTaskId task{run, TurnId("t" + std::to_string(state.next_turn))};
    const auto codec = std::make_shared<A2aCodec>(task, request_.form);
    const auto following = follower(codec, reply);
    if (auto watched = following->watch(run); !watched) return watched;
    auto slot = service_.runs->begin_turn(request_.call.principal);
    if (!slot) return fail(slot.error());
    Message message = text_message(Role::kUser, std::move(message_.text));
    message.metadata = metadata();
    std::ignore = codec->speak();
    const auto watch = std::make_shared<BeginWatch>();
    service_.runs->send(
        run, *std::move(slot), std::move(message), nullptr,
        [&service = service_, push = message_.push, task, following, watch,
         refuse = refusal(reply)](const Status& begun) {
          if (!begun) return refuse(begun.error());
          if (auto added = add_push(service, push, task); !added) return refuse(added.error());
          following->follow();
          watch->give(following);
        },
        [watch](const Result<AgentResult>& result) { watch->report(result); });
    return {};
  }

  Status to_task(const HttpReply& reply) {
    const auto found = find_a2a_task(request_, message_.task);
    if (!found) return fail(found.error());
    const SessionId& run = found->id.run;
    const auto codec = std::make_shared<A2aCodec>(found->id, request_.form);
    const auto following = follower(codec, reply);
    if (auto watched = following->watch(run); !watched) return watched;
    const auto stored = service_.runs->stored(run);  // with what came before it was watched
    if (!stored) return fail(stored.error());
    following->replay(*stored);
    if (codec->has_ended()) return fail(a2a_task_ended(found->id));
    if (!message_.context.empty() && message_.context != codec->context() && message_.context != run.str())
      return fail(field_error("message.contextId", "is not the one of the task"));
    if (auto added = add_push(service_, message_.push, found->id); !added) return added;
    if (auto taken = reach(*stored); !taken) return taken;
    following->begin_with(codec->speak());
    following->follow();
    return {};
  }

  /// Decides the steps for which the task waits, or steers it.
  Status reach(const app::StoredSession& stored) {
    const auto pending = waiting_steps(stored);
    if (!pending) return fail(pending.error());
    const Principal& principal = request_.call.principal;
    if (pending->empty()) {
      if (!message_.decisions.empty())
        return fail(field_error("message.parts", "decides a step, but none waits"));
      if (auto may = check_right(principal, Right::kIntervene); !may) return may;
      return service_.runtime->command(
          {Command{CommandVerb::kSteer, stored.id, message_.text, author_of(principal)}});
    }
    if (message_.decisions.empty()) {
      auto decision = decision_by_text(stored.id, *pending);
      if (!decision) return fail(decision.error());
      message_.decisions.push_back(*std::move(decision));
    }
    const auto decided =
        decide_for_client(service_, stored.id, message_.decisions, principal, "message.parts");
    return decided ? Status() : Status(fail(decided.error()));
  }

  Result<ClientDecision> decision_by_text(const SessionId& run,
                                          const std::vector<ParkedStep>& pending) const {
    if (pending.size() > 1)
      return fail(field_error("message.parts",
                              "must say which step it decides: several wait, so send data with "
                              "step and decision"));
    const std::string step = client_step_id(run, pending.front());
    const auto allowed = allowed_approvals(pending.front().kind);
    if (std::ranges::find(allowed, ApprovalVerb::kApprove) == allowed.end())
      return ClientDecision{.step = step, .approves = true, .text = message_.text};
    if (auto decision = a2a_decision(step, message_.text)) return *std::move(decision);
    return fail(
        field_error("message.parts", "must be allow, or deny with a reason, or data with step and decision"));
  }

  Service& service_;
  A2aRequest& request_;
  A2aMessage message_;
  const bool streams_;
};

}  // namespace

Result<FoundTask> find_a2a_task(const A2aRequest& request, const std::string& text) {
  Runs& runs = *request.service.runs;
  const Error missing = a2a_error("TASK_NOT_FOUND", "there is no task \"" + text + "\"");
  const auto id = A2aTaskId::parse(text);
  if (!id || runs.lineages().root_of(id->run) != id->run || !runs.may_see(request.call.principal, id->run))
    return fail(missing);
  auto stored = runs.stored(id->run);
  if (!stored || !turn_is_there(stored->state, id->turn) || !request.agent.owns(stored->state))
    return fail(missing);
  return FoundTask{*id, *std::move(stored)};
}

SessionId run_of_a2a_context(const A2aRequest& request, const std::string& context) {
  return run_of_conversation(request.service, context_format(request.agent), context, request.call.principal);
}

Error a2a_task_ended(const A2aTaskId& id) {
  return a2a_error("UNSUPPORTED_OPERATION",
                   "task " + id.text() + " has ended; a message with its contextId begins the next one");
}

Status send_a2a_message(A2aRequest& request, const HttpReply& reply, bool streams) {
  auto message = read_a2a_message(request.params);
  if (!message) return fail(message.error());
  if (message->push) {
    const auto push = push_of_a2a(request);
    if (!push) return fail(push.error());
    if (auto may = (*push)->check(*message->push, std::string(kPushMember) + "."); !may) return may;
  }
  return A2aSending(request, *std::move(message), streams).start(reply);
}

}  // namespace praxis::server
