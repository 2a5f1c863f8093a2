// Which events an observer gets, and how they look on the wire.
#include <algorithm>

#include "app/envelope.hpp"
#include "net/web_socket.hpp"
#include "server/event_feed.hpp"

namespace praxis::server {

bool wants(const FeedFilter& filter, const EventBody& body) {
  if (!filter.deltas && is_delta(body)) return false;
  return filter.patterns.empty() ||
         std::ranges::any_of(filter.patterns, [&](const std::string& p) { return selects(p, body); });
}

bool covers(const FeedFilter& filter, Lineages& lineages, const SessionId& session, const SessionId& root) {
  if (filter.may_see && !filter.may_see(root)) return false;
  if (filter.session.empty() || session == filter.session) return true;
  return filter.below && lineages.is_within(session, filter.session);
}

Frame frame_of(std::shared_ptr<const Event> shown, std::shared_ptr<const Event> exact,
               const std::optional<Position>& position, SessionId root) {
  auto text = std::make_shared<const std::string>(server_sent(*shown, position));
  return {position,         std::move(root), std::move(shown),
          std::move(exact), std::move(text), std::make_shared<SocketText>()};
}

Frame frame_of(const Event& event, const Position& position, SessionId root, const EventRedactor& redactor) {
  const auto whole = std::make_shared<const Event>(event);
  return frame_of(redactor.shown(whole), redactor.exact(whole), position, std::move(root));
}

std::string server_sent(const Event& event, const std::optional<Position>& position) {
  std::string text = position ? "id: " + position->text() + "\n" : "";
  text.append("event: ").append(event_name(event.body)).append("\ndata: ");
  append_json(text, app::program_json(event));
  return text += "\n\n";
}

const SharedBytes& SocketText::of(const std::optional<Position>& position, const Event& event,
                                  const std::string& text) {
  std::call_once(once_, [&] {
    constexpr std::string_view kData = "\ndata: ", kEnd = "\n\n";
    const std::size_t at = text.find(kData) + kData.size();
    std::string json = position ? "{\"id\":\"" + position->text() + "\"," : "{";
    json.append("\"event\":\"").append(event_name(event.body)).append("\",\"data\":");
    json.append(text, at, text.size() - at - kEnd.size()) += '}';
    bytes_ = std::make_shared<const std::string>(text_frame(json));
  });
  return bytes_;
}

}  // namespace praxis::server
