// Events as server-sent events or over WebSocket: what a client missed, then what happens.
#include <utility>

#include "server/event_sinks.hpp"
#include "server/handlers.hpp"

namespace praxis::server {
namespace {

/// The event after which a client wants to continue: the header that `EventSource` sends, or `?after=`. Error
/// `kInput`.
Result<std::optional<Position>> position_of(const Call& call) {
  std::string text(find_header(call.headers, "last-event-id").value_or(""));
  if (text.empty()) text = call.parameter("after");
  if (text.empty()) return std::optional<Position>();
  const auto position = Position::parse(text);
  if (!position)
    return fail(field_error("after", "must be the id of an event, such as 12.0, not \"" + text + "\""));
  return position;
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
  service.feed->subscribe(std::move(filter), *after ? *after : fallback,
                          std::make_shared<EventSink>(EventChannel::begin(call, reply)));
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

Status stream_all(Service& service, const Call& call, const HttpReply& reply) {
  auto filter = filter_of(service, call);
  if (!filter) return fail(filter.error());
  return begin_stream(service, call, *std::move(filter), std::nullopt, reply);
}

}  // namespace praxis::server
