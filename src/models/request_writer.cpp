#include "models/request_writer.hpp"

#include <algorithm>

namespace praxis {
namespace {

/// Whether only system and developer messages have been written: then the head may depend on messages still
/// to come.
bool is_opening(const std::vector<MessagePtr>& messages) {
  return messages.empty() || messages.back()->role == Role::kSystem ||
         messages.back()->role == Role::kDeveloper;
}

}  // namespace

bool RequestWriter::continues(const ModelRequest& request) const {
  const std::vector<MessagePtr>& messages = request.history.messages();
  return body_ && !is_opening(messages_) && request.stream == stream_ && request.tools == tools_ &&
         request.options == options_ && request.non_strict == non_strict_ &&
         request.instructions == instructions_ && messages.size() >= messages_.size() &&
         std::equal(messages_.begin(), messages_.end(), messages.begin());
}

void RequestWriter::start_over(const ModelRequest& request) {
  body_ = std::make_shared<Body>();
  body_->bytes = codec_->head(request);
  instructions_ = request.instructions;
  instruction_tokens_ = estimate_tokens(instructions_);
  tools_ = request.tools;
  options_ = request.options;
  non_strict_ = request.non_strict;
  stream_ = request.stream;
  messages_.clear();
  state_ = {};
}

std::shared_ptr<const std::string> RequestWriter::write(const ModelRequest& request) {
  if (!continues(request)) {
    start_over(request);
  } else {
    if (body_->lent.load(std::memory_order_acquire)) {  // still being sent: do not modify these bytes
      auto copy = std::make_shared<Body>();
      copy->bytes = body_->bytes;
      body_ = std::move(copy);
    }
    body_->bytes.resize(open_size_);
  }
  std::string& bytes = body_->bytes;
  const std::vector<MessagePtr>& messages = request.history.messages();
  for (std::size_t i = messages_.size(); i < messages.size(); ++i) {
    codec_->append(bytes, *messages[i], state_);
    messages_.push_back(messages[i]);
  }
  open_size_ = bytes.size();
  codec_->close(bytes, state_);
  history_tokens_ = request.history.estimated_tokens();
  body_->lent.store(true, std::memory_order_relaxed);
  return {&bytes, [body = body_](const std::string*) { body->lent.store(false, std::memory_order_release); }};
}

bool RequestWriter::knows_call(std::string_view id) const {
  const auto is_it = [id](const Part& part) {
    const auto* call = std::get_if<ToolCallPart>(&part);
    return call != nullptr && call->id.value == id;
  };
  return std::ranges::any_of(messages_,
                             [&](const MessagePtr& m) { return std::ranges::any_of(m->parts, is_it); });
}

std::int64_t RequestWriter::estimated_input() const { return instruction_tokens_ + history_tokens_; }

}  // namespace praxis
