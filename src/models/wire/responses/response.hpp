// Reads Responses answers, streamed or whole, from any server: no I/O, no clock. Passes on unknown items as
// opaque parts; a missing end is an error, never half an answer.
#pragma once

#include <string>
#include <string_view>

#include "models/answer_json.hpp"
#include "models/wire/responses/output.hpp"

namespace praxis::wire::responses {

class ResponseReader final : public AnswerReader {
 public:
  ResponseReader(const CodecTarget& target, Options options)
      : answer_(target, std::move(options)), output_(answer_) {}

  Status read_event(std::string_view name, std::string_view data) override;
  Status read_whole(std::string_view body) override;
  Result<ModelResponse> finish() override;
  bool is_done() const override { return done_; }
  const ModelResponse& so_far() const override { return answer_.response; }
  std::size_t deltas() const override { return answer_.deltas(); }

 private:
  bool read_item(std::string_view type, const Json& event, std::string_view data);
  bool read_content(std::string_view type, const Json& event);
  /// Reads the fields of a response object other than its output.
  void read_facts(const Json& response);
  Status read_end(const Json& response, std::string_view status);
  void start_over();

  AnswerBuilder answer_;
  EventJson json_ = answer_.event_json();
  Output output_;
  bool has_usage_ = false;
  bool done_ = false;  ///< the end was received
};

}  // namespace praxis::wire::responses
