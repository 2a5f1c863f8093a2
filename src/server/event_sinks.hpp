// Observers over HTTP. A client that reads too slowly loses deltas first; then it is asked to come back.
#pragma once

#include <string>
#include <utility>

#include "server/event_channel.hpp"
#include "server/event_feed.hpp"

namespace praxis::server {

/// The headers of an answer of server-sent events. Noticed when its client is gone.
HttpHeaders event_headers(const HttpReply& reply);
/// Begins an answer of server-sent events.
void begin_events(const HttpReply& reply);

/// Writes the events as they are.
class EventSink : public FeedSink {
 public:
  explicit EventSink(EventChannel channel) : channel_(std::move(channel)) {}
  bool on_frame(const Frame& frame) override;
  bool on_idle() override;
  void on_end() override;
  bool has_room() const override;

 protected:
  /// Whether a frame is to be sent, or left out because the client has not taken enough of what was before.
  enum class Pace : std::uint8_t { kSend, kLeaveOut, kEnded };
  Pace pace_of(const Frame& frame);
  const EventChannel& channel() const { return channel_; }
  /// Writes bytes for a frame to a stream of server-sent events, unless the client has not taken too much
  /// before.
  bool write(const Frame& frame, SharedBytes bytes);
  const HttpReply& reply() const { return channel_.reply(); }

 private:
  EventChannel channel_;
};

/// Writes the chunks of the fifth design, `{"type": "text-delta", ...}`, for one session and those below it.
/// Ends with the turn of that session.
class DesignSink final : public EventSink {
 public:
  DesignSink(EventChannel channel, SessionId session)
      : EventSink(std::move(channel)), session_(std::move(session)) {}
  bool on_frame(const Frame& frame) override;

 private:
  const SessionId session_;
  bool has_pieces_ = false;  ///< of the answer that is being written
};

}  // namespace praxis::server
