// Observers over HTTP. A client that reads too slowly loses deltas first; then it is asked to come back.
#pragma once

#include <string>
#include <utility>

#include "server/event_feed.hpp"

namespace praxis::server {

/// Begins an answer of server-sent events.
void begin_events(const HttpReply& reply);

/// Writes the events as they are.
class EventSink : public FeedSink {
 public:
  explicit EventSink(HttpReply reply) : reply_(std::move(reply)) {}
  bool on_frame(const Frame& frame) override;
  bool on_idle() override;
  void on_end() override;
  bool has_room() const override;

 protected:
  /// Writes bytes for a frame, unless the client has not taken too much before.
  bool write(const Frame& frame, SharedBytes bytes);
  const HttpReply& reply() const { return reply_; }

 private:
  HttpReply reply_;
};

/// Writes the chunks of the fifth design, `{"type": "text-delta", ...}`, for one session and those below it.
/// Ends with the turn of that session.
class DesignSink final : public EventSink {
 public:
  DesignSink(HttpReply reply, SessionId session)
      : EventSink(std::move(reply)), session_(std::move(session)) {}
  bool on_frame(const Frame& frame) override;

 private:
  const SessionId session_;
  bool has_pieces_ = false;  ///< of the answer that is being written
};

}  // namespace praxis::server
