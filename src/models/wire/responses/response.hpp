// Reads Responses answers, streamed or whole, from any server of the family: no I/O, no clock. What it does
// not know it passes on; what is missing at the end is an error, never half an answer.
#pragma once

#include <string>
#include <string_view>

#include "models/answer_json.hpp"
#include "models/wire/responses/output.hpp"

namespace praxis::responses {

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
  /// What a response object says beside its output.
  void read_facts(const Json& response);
  Status read_end(const Json& response, std::string_view status);
  void start_over();

  EventJson json_;
  AnswerBuilder answer_;
  Output output_;
  bool has_usage_ = false;
  bool done_ = false;  ///< the end was seen
};

}  // namespace praxis::responses
