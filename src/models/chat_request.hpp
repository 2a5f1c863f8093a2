// Writes Chat Completions requests. The body is laid out so that the next request of a conversation extends
// the bytes of the last one: model, settings and tools first, messages last.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "models/chat_dialect.hpp"
#include "praxis/models/model.hpp"

namespace praxis::chat {

/// Remembers the body it wrote last: a request that continues it costs only its new messages. Not
/// thread-safe.
class RequestWriter {
 public:
  RequestWriter(std::string model, const Dialect& dialect) : model_(std::move(model)), dialect_(dialect) {}

  /// The body of `request`. Immutable as long as somebody holds it; once all let go, the next one reuses its
  /// bytes.
  std::shared_ptr<const std::string> write(const ModelRequest& request);
  /// Whether the conversation last written holds a call of this id.
  bool knows_call(std::string_view id) const;
  /// Tokens of instructions and history last written, by the estimator.
  std::int64_t estimated_input() const;

 private:
  struct Body {
    std::string bytes;
    std::atomic<bool> lent = false;
  };

  bool continues(const ModelRequest& request) const;
  std::string settings(const ModelRequest& request) const;
  void start_over(const ModelRequest& request);

  const std::string model_;
  const Dialect dialect_;
  std::shared_ptr<Body> body_;
  // What `body_` was written from.
  std::string instructions_;
  std::shared_ptr<const std::vector<ToolDefinition>> tools_;
  ModelOptions options_;
  bool stream_ = false;
  std::vector<MessagePtr> messages_;
  std::int64_t history_tokens_ = 0;
};

/// Appends one message as the wire has it: with images of tool results behind it, it can be several,
/// separated by commas.
void append_message(std::string& out, const Message& message, const Dialect& dialect);

/// A call id as servers accept it, at most 40 characters: longer ones are replaced by a digest of theirs.
std::string wire_id(const CallId& id);

}  // namespace praxis::chat
