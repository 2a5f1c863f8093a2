// OpenAI's Responses: each is a turn of one of our runs, and everything that it shows comes from the log of
// that run.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "app/shown_run.hpp"
#include "app/tools_of_client.hpp"
#include "server/conversation_view.hpp"
#include "server/external_calls.hpp"
#include "server/handlers.hpp"
#include "server/responses_request.hpp"
#include "server/stored_responses.hpp"

namespace praxis::server {
namespace {

// ---- starting

/// The instructions of the request as the first message of the conversation, in place of those before.
std::vector<Message> with_instructions(std::vector<Message> messages, const std::string& instructions) {
  std::erase_if(messages, [](const Message& m) { return json_bool(m.metadata, kInstructionsKey); });
  if (instructions.empty()) return messages;
  Message said = text_message(Role::kDeveloper, instructions);
  said.metadata = JsonObject{{kInstructionsKey, true}};
  messages.insert(messages.begin(), std::move(said));
  return messages;
}

/// The conversation up to the end of a response. Error `kConflict`: it has not ended.
Result<std::vector<Message>> conversation_after(const FoundResponse& found) {
  State state;
  for (const StoredRecord& stored : found.stored->records) {
    if (auto applied = apply_to(state, stored.record); !applied) return fail(applied.error());
    const auto* settled = std::get_if<records::TurnSettled>(&stored.record.body);
    if (settled == nullptr || settled->turn != found.id.turn) continue;
    std::vector<Message> messages;
    for (const MessagePtr& message : state.conversation.history().messages()) messages.push_back(*message);
    return messages;
  }
  return fail(conflict("response " + found.id.text() + " has not ended, or waits for a decision"));
}

/// Continues the run of the response before, if that was its last turn and the same agent answers; otherwise
/// a new run begins with the conversation up to there.
class Starter {
 public:
  Starter(Service& service, const Call& call, ResponsesRequest request)
      : service_(service), call_(call), request_(std::move(request)) {}

  Status start(const HttpReply& reply) {
    if (!request_.conversation.empty()) return start_in_conversation(reply);
    if (!request_.input.decisions.empty()) return decide(reply);
    if (!request_.previous) return create(std::move(request_.input.before), reply);
    auto before = find_response(service_, request_.previous->text(), call_.principal);
    if (!before) return fail(Error(before.error()).set("field", "previous_response_id"));
    if (fits(*before)) return send(*before, reply);
    auto messages = conversation_after(*before);
    if (!messages) return fail(messages.error());
    std::ranges::move(request_.input.before, std::back_inserter(*messages));
    return create(*std::move(messages), reply);
  }

 private:
  /// Continues the run of the last response of the conversation, if it has nothing else; otherwise a new run
  /// begins with the items of the conversation.
  Status start_in_conversation(const HttpReply& reply) {
    auto seen = service_.conversations->find(request_.conversation, call_.principal);
    if (!seen) return fail(Error(seen.error()).set("field", "conversation"));
    const std::string key = idempotency_key();
    const SessionId keyed = key.empty() ? SessionId() : Runs::id_of_key(call_.principal.account(), key);
    auto claim = service_.conversations->claim(seen->id, keyed);
    if (!claim) return fail(claim.error());
    seen = service_.conversations->find(request_.conversation, call_.principal);  // with what came meanwhile
    if (!seen) return fail(seen.error());
    const auto view = view_of(service_, *seen, ViewFor::kTurn);
    if (!view) return fail(view.error());
    link_ = std::make_shared<const Link>(*seen, view->responses, *std::move(claim));
    if (!request_.input.decisions.empty()) {
      if (!view->last || view->last->id.run != request_.input.decisions.front().request.run)
        return fail(field_error("input",
                                "decides a step that the last response of the conversation does not "
                                "wait for"));
      return decide(reply);
    }
    const bool may_continue = view->last && fits(*view->last) && view->last_holds_all && key.empty();
    if (!is_known(keyed)) {
      if (auto ready = view->last ? check_ended(*view->last) : Status(); !ready) return ready;
      if (may_continue) return send(*view->last, reply);
    }
    auto messages = messages_of(view->items, "items");
    if (!messages) return fail(messages.error());
    for (Message& message : *messages) message.metadata = JsonObject{{kFromConversationKey, true}};
    std::ranges::move(request_.input.before, std::back_inserter(*messages));
    return create(in_normal_form(*messages), reply);
  }

  /// The place of a response in its conversation, while it begins.
  struct Link {
    StoredConversation seen;
    std::int64_t responses;  ///< that it had
    Conversations::Claim claim;
  };

  /// Error `kConflict`: the turn of the last response works or waits.
  static Status check_ended(const FoundResponse& last) {
    const State& state = last.stored->state;
    if (!state.turn || state.turn->id != last.id.turn) return {};
    const auto pending = waiting_steps(*last.stored);
    if (!pending) return fail(pending.error());
    return fail(conflict("response " + last.id.text() + " of the conversation " +
                         (pending->empty() ? "has not ended; wait for it, or cancel it"
                                           : "waits: give its mcp_approval_response or function_call_output, "
                                             "or cancel it")));
  }

  static std::vector<Message> in_normal_form(const std::vector<Message>& messages) {
    std::vector<Message> all;
    for (const MessagePtr& message : normalise(messages).history.messages()) all.push_back(*message);
    return all;
  }

  /// Whether a request with the same key has made the run.
  bool is_known(const SessionId& keyed) const {
    return !keyed.empty() && !service_.runs->lineages().root_of(keyed).empty();
  }

  std::string idempotency_key() const {
    return std::string(find_header(call_.headers, "idempotency-key").value_or(""));
  }

  /// Records, before a turn begins, that it belongs to the conversation of the request.
  static Status note(const Service& service, const std::shared_ptr<const Link>& link,
                     const Principal& principal, const ResponseId& id) {
    if (link == nullptr) return {};
    return service.conversations->note_begun(*link->claim, ResponseBegun{id, link->responses}, principal,
                                             link->seen.seq);
  }

  /// Whether the request asks for the next turn of the run of this response, and for nothing else than it
  /// did. Without a model in the request, it gets that of the response.
  bool fits(const FoundResponse& before) {
    ResponseCodec codec(before.id);
    std::string ignored;
    const JsonObject shown = replayed(codec, before, ignored).response();
    if (request_.model.empty()) request_.model = json_string(shown, "model");
    const bool is_same = request_.model == json_string(shown, "model") &&
                         request_.instructions == json_string(shown, "instructions") &&
                         to_canonical_json(json_at(Json(shown), "tools")) == to_canonical_json(tools_json());
    return is_same && request_.input.before.empty() && request_.limits.is_null() &&
           is_last_turn(before.stored->state, before.id.turn);
  }

  std::shared_ptr<TurnFollower> follower(const std::shared_ptr<ResponseCodec>& codec,
                                         const HttpReply& reply) const {
    const auto gives = request_.streams      ? TurnFollower::Gives::kStream
                       : request_.background ? TurnFollower::Gives::kWhenBegun
                                             : TurnFollower::Gives::kWhenEnded;
    return std::make_shared<TurnFollower>(service_, reply, codec, gives);
  }
  std::shared_ptr<TurnFollower> follower(const ResponseId& id, const HttpReply& reply) const {
    return follower(std::make_shared<ResponseCodec>(id), reply);
  }
  Json tools_json() const {
    const Json* tools = request_.kept.if_contains("tools");
    return tools == nullptr ? Json(JsonArray{}) : *tools;
  }
  Json kept() {
    request_.kept["model"] = request_.model;
    return JsonObject{{kResponsesKey, std::move(request_.kept)}};
  }

  Status create(std::vector<Message> before, const HttpReply& reply) {
    if (request_.model.empty())
      return fail(field_error("model", "must name an agent; GET /v1/models lists them"));
    NewRun run;
    run.agent = request_.model;
    run.content = request_.input.prompt->parts;
    run.before = with_instructions(std::move(before), request_.instructions);
    run.limits = request_.limits;
    run.tools = request_.tools;
    run.schema = std::move(request_.schema);
    run.idempotency = idempotency_key();
    run.request = call_.body;
    run.metadata = kept();
    const auto watch = std::make_shared<BeginWatch>();
    run.done = [watch](const Result<AgentResult>& result) { watch->report(result); };
    const auto codec = std::make_shared<ResponseCodec>(ResponseId{});
    const auto following = follower(codec, reply);
    run.prepare = [&service = service_, codec, following, link = link_,
                   principal = call_.principal](const SessionId& id) {
      const ResponseId response{id, TurnId("t1")};
      codec->set_id(response);
      auto watched = following->watch(id);
      return watched ? note(service, link, principal, response) : watched;
    };
    service_.runs->create(std::move(run), call_.principal,
                          [&service = service_, answer = call_.answer, codec, following, watch,
                           link = link_](const Result<Created>& made) {
                            if (link) service.conversations->give_up(link->claim);
                            if (!made) return answer(fail(made.error()));
                            if (made->is_new) ++service.counters.runs_created;
                            if (!made->is_new) {
                              codec->set_id(ResponseId{made->id, TurnId("t1")});
                              if (auto watched = following->watch(made->id); !watched)
                                return answer(fail(watched.error()));
                              const auto stored = service.runs->stored(made->id);
                              if (!stored) return answer(fail(stored.error()));
                              following->replay(*stored);
                            }
                            following->follow();
                            watch->give(following);
                          });
    return {};
  }

  Status send(const FoundResponse& before, const HttpReply& reply) {
    const State& state = before.stored->state;
    const ResponseId id{before.id.run, TurnId("t" + std::to_string(state.next_turn))};
    const auto following = follower(id, reply);
    if (auto watched = following->watch(id.run); !watched) return watched;
    auto slot = service_.runs->begin_turn(call_.principal);
    if (!slot) return fail(slot.error());
    if (auto noted = note(service_, link_, call_.principal, id); !noted) return noted;
    Message message = *std::move(request_.input.prompt);
    message.metadata = kept();
    const auto watch = std::make_shared<BeginWatch>();
    service_.runs->send(
        id.run, *std::move(slot), std::move(message), std::move(request_.schema),
        [&service = service_, following, watch, answer = call_.answer, link = link_](const Status& begun) {
          if (link) service.conversations->give_up(link->claim);
          if (!begun) return answer(fail(begun.error()));
          following->follow();
          watch->give(following);
        },
        [watch](const Result<AgentResult>& result) { watch->report(result); });
    return {};
  }

  /// The decisions as our approvals, in the order of the request. Error `kInput`.
  Result<std::vector<Approval>> approvals(const std::vector<ParkedStep>& pending) const {
    std::vector<Approval> all;
    const SessionId& run = request_.input.decisions.front().request.run;
    for (const auto& [request, approves, reason] : request_.input.decisions) {
      const auto step = std::ranges::find_if(pending, [&](const ParkedStep& each) {
        return ApprovalRequestId::of(run, each).text() == request.text();
      });
      if (step == pending.end())
        return fail(field_error("input", "decides \"" + request.text() + "\", which does not wait"));
      const auto allowed = allowed_approvals(step->kind);
      const bool asks = std::ranges::find(allowed, ApprovalVerb::kApprove) == allowed.end();
      if (approves && asks && reason.empty())
        return fail(field_error("reason", "must be the answer: the step asks a question"));
      all.push_back(!approves ? praxis::reject(reason) : asks ? praxis::answer(reason) : praxis::approve());
    }
    return all;
  }

  Status decide(const HttpReply& reply) {
    const auto& decisions = request_.input.decisions;
    const SessionId& run = decisions.front().request.run;
    const bool is_one_run =
        std::ranges::all_of(decisions, [&](const auto& d) { return d.request.run == run; }) &&
        (!request_.previous || request_.previous->run == run);
    if (!is_one_run) return fail(field_error("input", "decides steps of several responses"));
    if (json_at(Json(request_.kept), "metadata").is_object())
      return fail(field_error("metadata", "belongs to the request that began the turn"));
    if (!service_.runs->may_see(call_.principal, run))
      return fail(not_found("approval request", decisions.front().request.text()));
    const auto stored = service_.runs->stored(run);
    if (!stored) return fail(not_found("approval request", decisions.front().request.text()));
    const auto pending = waiting_steps(*stored);
    if (!pending) return fail(pending.error());
    auto decided = approvals(*pending);
    if (!decided) return fail(decided.error());
    const auto following = follower(
        {run, stored->state.turn->id, decisions.front().request.session, decisions.front().request.step},
        reply);
    if (auto watched = following->watch(run); !watched) return watched;
    const auto now = service_.runs->stored(run);  // with what came before it was watched
    if (!now) return fail(now.error());
    following->replay(*now);
    for (std::size_t i = 0; i < decisions.size(); ++i) {
      if (auto done = service_.runs->decide(decisions[i].request.session, decisions[i].request.step.str(),
                                            std::move((*decided)[i]), call_.principal);
          !done)
        return done;
    }
    following->follow();
    return {};
  }

  Service& service_;
  const Call& call_;
  ResponsesRequest request_;
  std::shared_ptr<const Link> link_;  ///< null: the response belongs to no conversation
};

}  // namespace

Status create_response(Service& service, const Call& call, const HttpReply& reply) {
  const auto body = parse_json(call.body);
  if (!body || !body->is_object()) return fail(ErrorCode::kInput, "the body must be a JSON object");
  auto request = read_responses_request(body->get_object());
  if (!request) return fail(request.error());
  return Starter(service, call, *std::move(request)).start(reply);
}

// ---- later

Status retrieve_response(Service& service, const Call& call, const HttpReply& reply) {
  const auto found = find_response(service, call.name("response"), call.principal);
  if (!found) return fail(found.error());
  if (call.parameter("stream") != "true") {
    const auto response = response_json(*found);
    if (!response) return fail(response.error());
    reply.send(json_answer(*response));
    return {};
  }
  const auto after = call.number("starting_after", SIZE_MAX, INT32_MAX);
  if (!after) return fail(after.error());
  const auto codec =
      std::make_shared<ResponseCodec>(found->id, *after == SIZE_MAX ? -1 : static_cast<std::int64_t>(*after));
  if (found->begins_at) codec->begin_at(*found->begins_at);
  const auto following = std::make_shared<TurnFollower>(service, reply, codec, TurnFollower::Gives::kStream);
  if (auto watched = following->watch(found->id.run); !watched) return watched;
  const auto stored = service.runs->stored(found->id.run);  // with what came before it was watched
  if (!stored) return fail(stored.error());
  following->replay(*stored);
  following->follow();
  return {};
}

Status cancel_response(Service& service, const Call& call, const HttpReply& reply) {
  const auto found = find_response(service, call.name("response"), call.principal);
  if (!found) return fail(found.error());
  const auto response = response_json(*found);
  if (!response) return fail(response.error());
  const std::string status = json_string(*response, "status");
  if (status != "in_progress" && status != "queued") {
    reply.send(json_answer(*response));
    return {};
  }
  const auto following = std::make_shared<TurnFollower>(
      service, reply, std::make_shared<ResponseCodec>(found->id), TurnFollower::Gives::kWhenEnded);
  if (auto watched = following->watch(found->id.run); !watched) return watched;
  const auto stored = service.runs->stored(found->id.run);
  if (!stored) return fail(stored.error());
  following->replay(*stored);
  auto stopped = service.runtime->command(
      {Command{CommandVerb::kInterrupt, found->id.run, {}, author_of(call.principal)}});
  if (!stopped && service.runs->stored(found->id.run)->state.turn) return stopped;
  following->follow();
  return {};
}

Result<HttpAnswer> delete_response(Service& service, const Call& call) {
  const auto found = find_response(service, call.name("response"), call.principal);
  if (!found) return fail(found.error());
  const State& state = found->stored->state;
  if (state.turn) return fail(conflict("the run is in the middle of a turn; cancel the response first"));
  if (!is_last_turn(state, found->id.turn))
    return fail(conflict("later responses build on this one; delete them first"));
  if (auto gone = service.runs->rewind(found->id.run, found->id.turn); !gone) return fail(gone.error());
  return json_answer(JsonObject{{"id", found->id.text()}, {"object", "response"}, {"deleted", true}});
}

Result<HttpAnswer> list_input_items(Service& service, const Call& call) {
  const auto page = item_page_of(call);
  if (!page) return fail(page.error());
  const auto found = find_response(service, call.name("response"), call.principal);
  if (!found) return fail(found.error());
  auto shown = app::shown_run(*found->stored, service.redactions);
  if (!shown) return fail(shown.error());
  return page_of_items(
      *page, input_items({found->id, std::make_shared<const app::StoredSession>(*std::move(shown))}));
}

}  // namespace praxis::server
