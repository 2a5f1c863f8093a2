// Writes the requests of one conversation. It remembers the body it wrote last: a request that continues it
// costs only its new messages, and its bytes extend those of the last one.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/codec.hpp"

namespace praxis {

/// Not thread-safe.
class RequestWriter {
 public:
  explicit RequestWriter(CodecPtr codec) : codec_(std::move(codec)) {}

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
  void start_over(const ModelRequest& request);

  const CodecPtr codec_;
  std::shared_ptr<Body> body_;
  // What `body_` was written from.
  std::string instructions_;
  std::shared_ptr<const std::vector<ToolDefinition>> tools_;
  ModelOptions options_;
  bool non_strict_ = false;
  bool stream_ = false;
  std::vector<MessagePtr> messages_;
  std::int64_t history_tokens_ = 0;
  RenderState state_;
  std::size_t open_size_ = 0;  ///< of `body_` without its tail
};

}  // namespace praxis
