// OpenAI's Chat Completions in front of our runs: agents appear as models, a request is one turn of a new
// run.
#pragma once

#include <string>
#include <utility>

#include "server/event_sinks.hpp"
#include "server/problem.hpp"

namespace praxis::server {

/// A refusal in OpenAI's form: `{"error": {"message", "type", "param", "code"}}`.
HttpAnswer openai_error(const HttpAnswer& problem);

/// Writes the text of one session as chunks, and the end of its turn as the last ones.
class ChatSink final : public EventSink {
 public:
  /// What is the same in each chunk.
  struct Head {
    std::string id;
    std::string model;  ///< as the client named it
    std::int64_t created = 0;
    bool with_usage = false;  ///< the last chunk has the usage
  };
  ChatSink(HttpReply reply, SessionId session, Head head)
      : EventSink(std::move(reply)), session_(std::move(session)), head_(std::move(head)) {}
  bool on_frame(const Frame& frame) override;
  void on_end() override;

 private:
  bool write_chunk(const Frame& frame, JsonArray choices, Json usage);
  bool write_text(const Frame& frame, const std::string& text);
  bool end(const Frame& frame, const AgentResult& result);

  const SessionId session_;
  const Head head_;
  bool has_begun_ = false;
  bool has_pieces_ = false;  ///< of the answer that is being written
};

}  // namespace praxis::server
