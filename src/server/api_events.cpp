// Events as server-sent events or over WebSocket: what a client missed, then what happens.
#include <algorithm>
#include <utility>

#include "app/envelope.hpp"
#include "server/event_sinks.hpp"
#include "server/handlers.hpp"
#include "server/past_events.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kHistoryShown = 200, kMostHistoryShown = 5000;  // records

/// The id of an event in a parameter; nothing if that is missing. Error `kInput`.
Result<std::optional<Position>> position_in(const std::string& text, const char* name) {
  if (text.empty()) return std::optional<Position>();
  const auto position = Position::parse(text);
  if (!position)
    return fail(field_error(name, "must be the id of an event, such as 12.0, not \"" + text + "\""));
  return position;
}

/// The event after which a client wants to continue: the header that `EventSource` sends, or `?after=`. Error
/// `kInput`.
Result<std::optional<Position>> position_of(const Call& call) {
  std::string text(find_header(call.headers, "last-event-id").value_or(""));
  return position_in(text.empty() ? call.parameter("after") : text, "after");
}

Result<FeedFilter> filter_of(Service& service, const Call& call) {
  FeedFilter filter;
  filter.deltas = call.parameter("deltas") != "false";
  for (auto [at, end] = call.query.equal_range("event"); at != end; ++at) {
    if (auto known = check_pattern(at->second); !known)
      return fail(Error(known.error()).set("field", "event"));
    filter.patterns.push_back(at->second);
  }
  if (!call.principal.sees_all) {
    filter.may_see = [runs = service.runs, principal = call.principal](const SessionId& root) {
      return runs->may_see(principal, root);
    };
  }
  return filter;
}

Status begin_stream(Service& service, const Call& call, FeedFilter filter, std::optional<Position> fallback,
                    const HttpReply& reply) {
  const auto after = position_of(call);
  if (!after) return fail(after.error());
  reply.on_gone(service.feed->subscribe(std::move(filter), *after ? *after : fallback,
                                        std::make_shared<EventSink>(EventChannel::begin(call, reply))));
  return {};
}

}  // namespace

Status stream_run(Service& service, const Call& call, const HttpReply& reply) {
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  auto filter = filter_of(service, call);
  if (!filter) return fail(filter.error());
  filter->session = *id;
  filter->below = call.parameter("below") != "false";
  // Without a position a client gets the whole run: that of a client that comes a moment late is complete
  // too.
  return begin_stream(service, call, *std::move(filter), Position{}, reply);
}

Result<HttpAnswer> show_history(Service& service, const Call& call) {
  const auto limit = call.number("limit", kHistoryShown, kMostHistoryShown);
  const auto before = position_in(call.parameter("before"), "before");
  if (!limit) return fail(limit.error());
  if (!before) return fail(before.error());
  const auto id = service.runs->find(call.name("id"), call.principal);
  if (!id) return fail(id.error());
  auto filter = filter_of(service, call);
  if (!filter) return fail(filter.error());
  filter->session = *id;
  filter->below = call.parameter("below") != "false";
  const auto last = service.journal->last_position();
  if (!last) return fail(last.error());
  const Position end{*last, UINT32_MAX};
  const auto past = past_events(service.journal, service.folds, service.runs->lineages(), *filter,
                                std::min(before->value_or(end), end), *limit);
  if (!past) return fail(past.error());
  const EventRedactor::RedactionOf& redaction_of = service.redaction_of_events;
  JsonArray events, agents;
  for (const auto& [position, event] : past->events) {
    Event shown = event;
    redact_event(shown, redaction_of(event.agent.id));
    JsonObject json = app::program_json(shown);
    json["id"] = position.text();
    if (Json* result = json.if_contains("result"); result != nullptr && result->is_object())
      shorten_lists(result->get_object());
    events.push_back(std::move(json));
  }
  for (const AgentNode& node : past->before) {
    Json json(app::program_json(node));
    redaction_of(node.id).redact(json);
    agents.push_back(std::move(json));
  }
  return json_answer(JsonObject{{"run_id", id->str()},
                                {"events", std::move(events)},
                                {"agents", std::move(agents)},
                                {"has_earlier", past->has_earlier},
                                {"last_event_id", end.text()}});
}

Status stream_all(Service& service, const Call& call, const HttpReply& reply) {
  auto filter = filter_of(service, call);
  if (!filter) return fail(filter.error());
  return begin_stream(service, call, *std::move(filter), std::nullopt, reply);
}

}  // namespace praxis::server
