// OpenAI's Responses: each is a turn of one of our runs, and everything that it shows comes from the log of
// that run.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "app/tools_of_client.hpp"
#include "server/external_calls.hpp"
#include "server/handlers.hpp"
#include "server/responses_request.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kItemsShown = 20, kMostItemsShown = 100;
constexpr const char* kInstructionsKey = "responses_instructions";

/// A response that exists, and its run.
struct FoundResponse {
  ResponseId id;
  app::StoredSession stored;
  std::optional<UnixMillis> begins_at;  ///< when a step of a session below was decided
};

bool has_turn(const State& state, const TurnId& turn) {
  if (state.turn && state.turn->id == turn) return true;
  return std::ranges::any_of(state.marks, [&](const TurnMark& mark) { return mark.turn == turn; });
}

bool is_last_turn(const State& state, const TurnId& turn) {
  return !state.marks.empty() && state.marks.back().turn == turn;
}

/// When the step was decided; nothing if it is not.
std::optional<UnixMillis> decided_at(const std::vector<StoredRecord>& records, const ParkId& step) {
  for (const StoredRecord& stored : records) {
    const auto* decided = std::get_if<records::Decided>(&stored.record.body);
    if (decided != nullptr && decided->park == step) return stored.record.time;
  }
  return std::nullopt;
}

ResponseCodec& replayed(ResponseCodec& codec, const FoundResponse& found, std::string& out) {
  if (found.begins_at) codec.begin_at(*found.begins_at);
  replay_into(found.stored.records, 0, 0, codec, out);
  return codec;
}

Result<FoundResponse> find_response(Service& service, const std::string& text, const Principal& principal) {
  const Error missing = not_found("response", text);
  const auto id = ResponseId::parse(text);
  if (!id || service.runs->lineages().root_of(id->run) != id->run ||
      !service.runs->may_see(principal, id->run))
    return fail(missing);
  auto stored = service.runs->stored(id->run);
  if (!stored || !has_turn(stored->state, id->turn)) return fail(missing);
  FoundResponse found{*id, *std::move(stored), std::nullopt};
  if (!id->decided.empty()) {
    const bool is_own = id->decided_in == id->run;
    if (!service.runs->lineages().is_within(id->decided_in, id->run)) return fail(missing);
    const auto below =
        is_own ? Result<app::StoredSession>(found.stored) : service.runs->stored(id->decided_in);
    const auto time = below ? decided_at(below->records, id->decided) : std::nullopt;
    if (!time) return fail(missing);
    if (!is_own) found.begins_at = time;
  }
  ResponseCodec codec(*id);
  std::string ignored;
  if (!json_bool(replayed(codec, found, ignored).request(), "store", true)) return fail(missing);
  return found;
}

/// The response at present.
Result<JsonObject> response_json(const FoundResponse& found) {
  ResponseCodec codec(found.id);
  std::string ignored;
  if (found.begins_at) codec.begin_at(*found.begins_at);
  if (!replay_into(found.stored.records, 0, 0, codec, ignored)) {
    const auto pending = waiting_steps(found.stored);
    if (!pending) return fail(pending.error());
    if (!pending->empty()) codec.take_wait(*pending, ignored);
  }
  return codec.response();
}

/// Whether the step was a call of a tool that the client runs.
bool is_external(const app::StoredSession& stored, const ParkId& step) {
  const auto names = app::external_tools_of(*stored.state.agent);
  return std::ranges::any_of(stored.records, [&](const StoredRecord& each) {
    const auto* parked = std::get_if<records::Parked>(&each.record.body);
    return parked != nullptr && parked->step.id == step && names.contains(parked->step.tool);
  });
}

/// What its request gave to the conversation: of the first turn the messages before it too.
JsonArray items_of(const FoundResponse& found) {
  JsonArray items;
  const ResponseId& id = found.id;
  TurnId turn;
  for (const StoredRecord& stored : found.stored.records) {
    const RecordBody& body = stored.record.body;
    if (const auto* started = std::get_if<records::TurnStarted>(&body)) turn = started->turn;
    if (const auto* decided = std::get_if<records::Decided>(&body);
        decided != nullptr && !id.decided.empty()) {
      if (id.decided_in != id.run || decided->park != id.decided) continue;
      if (decided->verb == ApprovalVerb::kAnswer && is_external(found.stored, id.decided)) {
        items.emplace_back(JsonObject{{"type", "function_call_output"},
                                      {"id", "fco_" + id.text().substr(5)},
                                      {"call_id", ExternalCallId{id.run, id.decided}.text()},
                                      {"status", "completed"},
                                      {"output", decided->text}});
        continue;
      }
      items.emplace_back(
          JsonObject{{"type", "mcp_approval_response"},
                     {"id", "mcpa_" + id.text().substr(5)},
                     {"approval_request_id", ApprovalRequestId{id.run, id.run, id.decided}.text()},
                     {"approve", decided->verb != ApprovalVerb::kReject},
                     {"reason", decided->text}});
    }
    const auto* said = std::get_if<records::MessageAppended>(&body);
    if (said == nullptr || !id.decided.empty()) continue;
    const bool is_before = said->source == MessageSource::kImport && id.turn == TurnId("t1") && turn.empty();
    const bool is_prompt = said->source == MessageSource::kUser && turn == id.turn;
    if ((!is_before && !is_prompt) || json_bool(said->message->metadata, kInstructionsKey)) continue;
    for (Json& item :
         input_items_of(*said->message, "msg_" + id.text().substr(5) + "~in" + std::to_string(stored.seq)))
      items.push_back(std::move(item));
  }
  return items;
}

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
  for (const StoredRecord& stored : found.stored.records) {
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
    if (!request_.input.decisions.empty()) return decide(reply);
    if (!request_.previous) return create(std::move(request_.input.before), reply);
    auto before = find_response(service_, request_.previous->text(), call_.principal);
    if (!before) return fail(Error(before.error()).set("field", "previous_response_id"));
    ResponseCodec codec(before->id);
    std::string ignored;
    const JsonObject shown = replayed(codec, *before, ignored).response();
    if (request_.model.empty()) request_.model = json_string(shown, "model");
    const bool is_same = request_.model == json_string(shown, "model") &&
                         request_.instructions == json_string(shown, "instructions") &&
                         to_canonical_json(json_at(Json(shown), "tools")) == to_canonical_json(tools_json());
    if (is_same && request_.input.before.empty() && request_.limits.is_null() &&
        is_last_turn(before->stored.state, before->id.turn))
      return send(*before, reply);
    auto messages = conversation_after(*before);
    if (!messages) return fail(messages.error());
    std::ranges::move(request_.input.before, std::back_inserter(*messages));
    return create(*std::move(messages), reply);
  }

 private:
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
    run.idempotency = std::string(find_header(call_.headers, "idempotency-key").value_or(""));
    run.request = call_.body;
    run.metadata = kept();
    const auto watch = std::make_shared<BeginWatch>();
    run.done = [watch](const Result<AgentResult>& result) { watch->report(result); };
    const auto codec = std::make_shared<ResponseCodec>(ResponseId{});
    const auto following = follower(codec, reply);
    run.prepare = [codec, following](const SessionId& id) {
      codec->set_id(ResponseId{id, TurnId("t1")});
      return following->watch(id);
    };
    service_.runs->create(
        std::move(run), call_.principal,
        [&service = service_, answer = call_.answer, codec, following, watch](const Result<Created>& made) {
          if (!made) return answer(fail(made.error()));
          if (made->is_new) ++service.counters.runs_created;
          if (!made->is_new) {
            codec->set_id(ResponseId{made->id, TurnId("t1")});
            if (auto watched = following->watch(made->id); !watched) return answer(fail(watched.error()));
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
    const State& state = before.stored.state;
    const auto following = follower({before.id.run, TurnId("t" + std::to_string(state.next_turn))}, reply);
    if (auto watched = following->watch(before.id.run); !watched) return watched;
    auto slot = service_.runs->begin_turn(call_.principal);
    if (!slot) return fail(slot.error());
    Message message = *std::move(request_.input.prompt);
    message.metadata = kept();
    const auto watch = std::make_shared<BeginWatch>();
    service_.runs->send(
        before.id.run, *std::move(slot), std::move(message), std::move(request_.schema),
        [following, watch, answer = call_.answer](const Status& begun) {
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
  const State& state = found->stored.state;
  if (state.turn) return fail(conflict("the run is in the middle of a turn; cancel the response first"));
  if (!is_last_turn(state, found->id.turn))
    return fail(conflict("later responses build on this one; delete them first"));
  if (auto gone = service.runs->rewind(found->id.run, found->id.turn); !gone) return fail(gone.error());
  return json_answer(JsonObject{{"id", found->id.text()}, {"object", "response"}, {"deleted", true}});
}

Result<HttpAnswer> list_input_items(Service& service, const Call& call) {
  const auto limit = call.number("limit", kItemsShown, kMostItemsShown);
  if (!limit) return fail(limit.error());
  const std::string order = call.parameter("order"), after = call.parameter("after");
  if (!order.empty() && order != "asc" && order != "desc")
    return fail(field_error("order", "must be asc or desc"));
  const auto found = find_response(service, call.name("response"), call.principal);
  if (!found) return fail(found.error());
  JsonArray items = items_of(*found);
  if (order != "asc") std::ranges::reverse(items);
  if (!after.empty()) {
    const auto at =
        std::ranges::find_if(items, [&](const Json& item) { return json_text(item, "id") == after; });
    if (at == items.end()) return fail(field_error("after", "names no item"));
    items.erase(items.begin(), at + 1);
  }
  const bool has_more = items.size() > *limit;
  if (has_more) items.resize(*limit);
  const auto id_at = [&](std::size_t i) { return items.empty() ? Json(nullptr) : json_at(items[i], "id"); };
  const Json first = id_at(0), last = id_at(items.empty() ? 0 : items.size() - 1);
  return json_answer(JsonObject{{"object", "list"},
                                {"data", std::move(items)},
                                {"first_id", first},
                                {"last_id", last},
                                {"has_more", has_more}});
}

}  // namespace praxis::server
