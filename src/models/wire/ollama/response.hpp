// Reads answers of the Ollama protocol: lines of JSON, or one line if the answer is not streamed.
#pragma once

#include <cstddef>
#include <string_view>

#include "models/answer_builder.hpp"
#include "models/answer_json.hpp"
#include "models/codec.hpp"

namespace praxis::wire::ollama {

class ResponseReader final : public AnswerReader {
 public:
  ResponseReader(const CodecTarget& target, Options options) : builder_(target, std::move(options)) {}

  Status read_event(std::string_view name, std::string_view line) override;
  Status read_whole(std::string_view body) override { return read_event({}, body); }
  Result<ModelResponse> finish() override;
  bool is_done() const override { return done_; }
  const ModelResponse& so_far() const override { return builder_.response; }
  std::size_t deltas() const override { return builder_.deltas(); }

 private:
  void read_message(const Json& message);
  void read_call(const Json& call);
  void read_end(const Json& line);
  template <class Wanted>
  std::size_t last_or_new(Part part);

  AnswerBuilder builder_;
  EventJson json_ = builder_.event_json();
  bool has_message_ = false;
  bool has_usage_ = false;
  bool done_ = false;
};

}  // namespace praxis::wire::ollama
