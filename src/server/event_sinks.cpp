#include "server/event_sinks.hpp"

#include "app/envelope.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kDeltasUpTo = 256 * 1024;  // bytes that the client has not taken
constexpr std::size_t kEverythingUpTo = 4 * 1024 * 1024;
constexpr std::size_t kRoom = 256 * 1024;
constexpr const char* kAlive = ": alive\n\n";

/// The chunk of an event, in the names of the fifth design; null if it has none.
Json chunk_of(const Event& event) {
  return std::visit(
      match{[](const events::TextDelta& e) -> Json {
              return JsonObject{{"type", "text-delta"}, {"textDelta", e.text}};
            },
            [](const events::ReasoningDelta& e) -> Json {
              return JsonObject{{"type", "reasoning"}, {"textDelta", e.text}};
            },
            [](const events::ToolCalled& e) -> Json {
              return JsonObject{{"type", "tool-call"},
                                {"toolCallId", e.call.str()},
                                {"toolName", e.name},
                                {"args", app::program_arguments(e.arguments)}};
            },
            [](const events::ToolCompleted& e) -> Json {
              return JsonObject{{"type", "tool-result"},
                                {"toolCallId", e.call.str()},
                                {"toolName", e.name},
                                {"result", e.value.is_null() ? Json(e.text) : e.value}};
            },
            [](const events::ToolFailed& e) -> Json {
              return JsonObject{{"type", "tool-result"},
                                {"toolCallId", e.call.str()},
                                {"toolName", e.name},
                                {"isError", true},
                                {"result", e.error.message}};
            },
            [&](const events::AgentStatus& e) -> Json {
              return JsonObject{{"type", "agent-state"},
                                {"agentId", event.agent.id.str()},
                                {"state", JsonObject{{"status", to_string(e.status)},
                                                     {"content", e.content},
                                                     {"userComment", e.comment}}}};
            },
            [](const events::TurnCompleted& e) -> Json {
              return JsonObject{{"type", "finish"}, {"finishReason", "stop"}, {"text", e.result.text}};
            },
            [](const events::TurnFailed& e) -> Json {
              return JsonObject{{"type", "error"},
                                {"error", e.result.error ? e.result.error->message : "the turn failed"}};
            },
            [](const events::TurnTimedOut&) -> Json {
              return JsonObject{{"type", "error"}, {"error", "the turn ran out of time"}};
            },
            [](const events::TurnCancelled&) -> Json {
              return JsonObject{{"type", "finish"}, {"finishReason", "cancelled"}};
            },
            [](const auto&) -> Json { return nullptr; }},
      event.body);
}

/// Whether a delta has nothing that may be shown yet.
bool is_held_back(const EventBody& body) {
  return std::visit(
      match{[](const events::TextDelta& e) { return e.text.empty(); },
            [](const events::ReasoningDelta& e) { return e.text.empty(); },
            [](const events::ToolCallDelta& e) { return e.arguments.empty() && e.name.empty(); },
            [](const auto&) { return false; }},
      body);
}

}  // namespace

HttpHeaders event_headers(const HttpReply& reply) {
  reply.probe_with(std::make_shared<const std::string>(kAlive));
  return {{"Content-Type", "text/event-stream"},
          {"Cache-Control", "no-store"},
          {"X-Accel-Buffering", "no"}};  // or nginx keeps events until its buffer is full
}

void begin_events(const HttpReply& reply) { reply.begin(200, event_headers(reply)); }

EventSink::Pace EventSink::pace_of(const Frame& frame) {
  const std::size_t waiting = channel_.waiting();
  if (is_held_back(frame.event->body)) return Pace::kLeaveOut;
  if (waiting > kDeltasUpTo && is_delta(frame.event->body)) return Pace::kLeaveOut;
  if (waiting <= kEverythingUpTo) return Pace::kSend;
  channel_.end(EventChannel::End::kReconnect);
  return Pace::kEnded;
}

bool EventSink::on_frame(const Frame& frame) {
  const Pace pace = pace_of(frame);
  return pace == Pace::kSend ? channel_.write(frame) : pace == Pace::kLeaveOut;
}

bool EventSink::write(const Frame& frame, SharedBytes bytes) {
  const Pace pace = pace_of(frame);
  return pace == Pace::kSend ? reply().write(std::move(bytes)) : pace == Pace::kLeaveOut;
}

bool EventSink::on_idle() { return channel_.write_alive(); }
void EventSink::on_end() { channel_.end(EventChannel::End::kShutdown); }
bool EventSink::has_room() const { return channel_.waiting() < kRoom; }

bool DesignSink::on_frame(const Frame& frame) {
  const EventBody& body = frame.event->body;
  const bool is_own = frame.event->agent.id == session_;
  const bool is_last = is_own && ends_turn(body);
  Json chunk = is_own || !(is_delta(body) || ends_turn(body)) ? chunk_of(*frame.event) : nullptr;
  if (is_own && std::holds_alternative<events::TextDelta>(body)) has_pieces_ = true;
  if (const auto* text = std::get_if<events::AssistantText>(&body); is_own && text != nullptr) {
    // A client that came too late for the pieces gets the answer whole.
    if (!has_pieces_) chunk = JsonObject{{"type", "text-delta"}, {"textDelta", text->text}};
    has_pieces_ = false;
  }
  if (!chunk.is_null()) {
    const Pace pace = pace_of(frame);
    if (pace == Pace::kEnded) return false;
    if (pace == Pace::kSend && !channel().write(frame.position, std::move(chunk.as_object()))) return false;
  }
  if (is_last) channel().end(EventChannel::End::kDone);
  return !is_last;
}

}  // namespace praxis::server
