// Writes the requests of one conversation and keeps the last body. A request that continues the conversation
// costs only its new messages, and its bytes extend those of the previous request.
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

  /// The body of `request`. It does not change while the caller holds it; once released, the next request
  /// reuses its memory.
  std::shared_ptr<const std::string> write(const ModelRequest& request);
  /// Whether the last written conversation contains a call with this id.
  bool knows_call(std::string_view id) const;
  /// Estimated tokens of the last written instructions and history.
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
  // The input from which `body_` was written.
  std::string instructions_;
  std::int64_t instruction_tokens_ = 0;  ///< estimated
  std::shared_ptr<const std::vector<ToolDefinition>> tools_;
  ModelOptions options_;
  bool non_strict_ = false;
  bool stream_ = false;
  std::vector<MessagePtr> messages_;
  std::int64_t history_tokens_ = 0;
  RenderState state_;
  std::size_t open_size_ = 0;  ///< size of `body_` without its tail
};

}  // namespace praxis
