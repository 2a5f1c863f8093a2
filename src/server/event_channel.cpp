#include "server/event_channel.hpp"

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
#include "base/trimmed.hpp"
#include "net/web_socket.hpp"
#include "praxis/base/base64.hpp"
#include "server/event_sinks.hpp"
#include "server/problem.hpp"
#include "server/split.hpp"

namespace praxis::server {
namespace {

SharedBytes shared(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

/// Calls `take` with each element of a header that is a list; the header may be repeated.
template <class Take>
void for_each_in(const HttpHeaders& headers, std::string_view name, Take take) {
  for (const auto& [key, value] : headers) {
    if (lower_case(key) != name) continue;
    split(value, ',', [&](std::string_view part) {
      part = trimmed(part, " \t");
      if (!part.empty()) take(part);
    });
  }
}

bool lists(const HttpHeaders& headers, std::string_view name, std::string_view wanted) {
  bool found = false;
  for_each_in(headers, name, [&](std::string_view part) { found = found || lower_case(part) == wanted; });
  return found;
}

bool is_upgrade(const HttpHeaders& headers) {
  return lists(headers, "upgrade", "websocket") && lists(headers, "connection", "upgrade");
}

std::string_view value_of(const Call& call, std::string_view name) {
  return find_header(call.headers, name).value_or("");
}

}  // namespace

bool asks_for_socket(const Call& call) {
  return call.method == "GET" && !call.is_http_1_0 && is_upgrade(call.headers);
}

std::optional<HttpAnswer> refuse_socket(const Call& call) {
  if (value_of(call, "sec-websocket-version") != "13") {
    HttpAnswer answer = problem(426, make_error(ErrorCode::kInput, "of WebSocket only version 13 is known"));
    answer.headers.emplace_back("Sec-WebSocket-Version", "13");
    return answer;
  }
  if (!is_web_socket_key(value_of(call, "sec-websocket-key")))
    return problem(400, field_error("Sec-WebSocket-Key", "must be 16 bytes in base64"));
  const bool has_protocols = find_header(call.headers, "sec-websocket-protocol").has_value();
  if (has_protocols && !lists(call.headers, "sec-websocket-protocol", kSocketProtocol)) {
    return problem(400, field_error("Sec-WebSocket-Protocol", "must list " + std::string(kSocketProtocol) +
                                                                  ", the only one known here"));
  }
  return std::nullopt;
}

std::optional<std::string> socket_token(const HttpHeaders& headers) {
  if (!is_upgrade(headers)) return std::nullopt;
  std::optional<std::string> token;
  for_each_in(headers, "sec-websocket-protocol", [&](std::string_view part) {
    if (!part.starts_with(kSocketToken)) return;
    std::string text(part.substr(kSocketToken.size()));
    std::ranges::replace(text, '-', '+');
    std::ranges::replace(text, '_', '/');
    text.append((4 - text.size() % 4) % 4, '=');
    if (auto decoded = base64_decode(text)) token = *std::move(decoded);
  });
  return token;
}

EventChannel EventChannel::begin(const Call& call, const HttpReply& reply) {
  EventChannel channel(reply);
  channel.is_socket_ = asks_for_socket(call);
  if (!channel.is_socket_) {
    begin_events(reply);
    return channel;
  }
  HttpHeaders headers;
  if (find_header(call.headers, "sec-websocket-protocol"))
    headers.emplace_back("Sec-WebSocket-Protocol", kSocketProtocol);
  reply.begin_socket(std::string(value_of(call, "sec-websocket-key")), std::move(headers));
  return channel;
}

bool EventChannel::write(const Frame& frame) const {
  return reply_.write(is_socket_ ? frame.socket->of(frame.position, *frame.event, *frame.text) : frame.text);
}

bool EventChannel::write(const std::optional<Position>& position, JsonObject object) const {
  if (!is_socket_) {
    const std::string id = position ? "id: " + position->text() + "\n" : "";
    return reply_.write(shared(id + "data: " + to_json_text(object) + "\n\n"));
  }
  if (position) object["id"] = position->text();
  return reply_.write(shared(text_frame(to_json_text(object))));
}

bool EventChannel::write_alive() const {
  return is_socket_ ? !reply_.ended() : reply_.write(shared(": alive\n\n"));
}

void EventChannel::end(End why) const {
  const std::string again = is_socket_ ? "?after=ID" : "Last-Event-ID";
  const std::string reason = why == End::kDone       ? ""
                             : why == End::kShutdown ? "the server ends; come back with " + again
                                                     : "too slow; come back with " + again;
  const CloseCode code = why == End::kDone       ? CloseCode::kNormal
                         : why == End::kShutdown ? CloseCode::kGoingAway
                                                 : CloseCode::kTryAgainLater;
  if (is_socket_) return reply_.finish(shared(close_frame(code, reason)));
  if (why == End::kDone) return reply_.finish();
  const std::string name = why == End::kShutdown ? "shutdown" : "reconnect";
  reply_.finish(shared("event: " + name + "\ndata: {\"reason\":\"" + reason + "\"}\n\n"));
}

}  // namespace praxis::server
