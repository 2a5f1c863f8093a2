// Reads Anthropic Messages answers, streamed or whole: no I/O, no clock. Keeps unknown blocks unchanged; a
// missing end is an error, never half an answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/answer_builder.hpp"
#include "models/answer_json.hpp"
#include "models/codec.hpp"

namespace praxis::wire::messages {

class ResponseReader final : public AnswerReader {
 public:
  ResponseReader(const CodecTarget& target, Options options)
      : target_(target), builder_(target, std::move(options)) {}

  Status read_event(std::string_view name, std::string_view data) override;
  Status read_whole(std::string_view body) override;
  Result<ModelResponse> finish() override;
  bool is_done() const override { return done_; }
  const ModelResponse& so_far() const override { return builder_.response; }
  std::size_t deltas() const override { return builder_.deltas(); }

 private:
  /// An open content block.
  struct Block {
    std::int64_t index = 0;  ///< the vendor's index
    std::size_t item = 0;    ///< part number in the response
    JsonObject native;       ///< fields that the part does not hold
    std::string input;  ///< tool input: from the block's start, or from deltas for the vendor's own tools
    bool ended = false;
  };

  Status read_start(const Json& message);
  void read_head(const Json& message);
  void read_ending(const Json& message);
  void read_usage(const Json& usage);
  Block* find_block(std::int64_t index);
  void open_block(std::int64_t index, const Json& content, std::string_view event);
  void open_text(Block& block);
  void open_call(Block& block);
  void read_delta(Block& block, const Json& delta, std::string_view event);
  void read_citation(Block& block, const Json& citation);
  void close_block(Block& block);
  void disown_call(const Block& block);
  void add_extra_passes();

  const CodecTarget& target_;  ///< owned by the codec, which outlives its readers
  AnswerBuilder builder_;
  EventJson json_ = builder_.event_json();
  std::vector<Block> blocks_;  ///< in the order in which they were opened
  JsonObject usage_;           ///< the latest value of each counter
  bool started_ = false;
  bool done_ = false;
};

}  // namespace praxis::wire::messages
