// Reads Chat Completions answers, streamed or whole, from any server: no I/O, no clock. Skips what it does
// not understand; a missing end is an error, never half an answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/answer_builder.hpp"
#include "models/answer_json.hpp"
#include "models/wire/chat/calls.hpp"
#include "models/wire/chat/dialect.hpp"
#include "models/wire/chat/reasoning.hpp"

namespace praxis::wire::chat {

class ResponseReader final : public AnswerReader {
 public:
  ResponseReader(const CodecTarget& target, const Dialect& dialect, Options options)
      : dialect_(dialect), builder_(target, std::move(options)) {}

  Status read_event(std::string_view name, std::string_view data) override;
  Status read_whole(std::string_view body) override;
  Result<ModelResponse> finish() override;
  bool is_done() const override { return done_ || error_; }
  const ModelResponse& so_far() const override { return builder_.response; }
  std::size_t deltas() const override { return builder_.deltas(); }

 private:
  // `whole`: the choice contains a complete message instead of a delta.
  Status read_chunk(const Json& chunk, bool whole);
  void read_facts(const Json& chunk);
  Status read_choice(const Json& choice, bool whole);
  void read_finish(const Json& choice, bool whole);
  void read_usage(const Json& usage);
  void read_stated_usage(const Json& chunk);
  void read_message(const Json& message, bool whole);
  void read_reasoning(const Json& message);
  void read_details(const Json& details, bool shown);
  void read_content(const Json& content);
  void read_content_part(const Json& part);
  void read_tool_calls(const Json& calls, bool whole);
  void read_annotations(const Json& annotations);
  void read_sources(const Json& chunk);
  void read_audio(const Json& audio);

  void add_text(std::string_view text);
  void add_piece(const ThinkTags::Piece& piece);
  void add_reasoning(std::string_view text, std::string_view field);
  void add_refusal(std::string_view text);
  /// The number of the last part if it is of this kind, else of a new part.
  template <class Kind>
  std::size_t last();

  void settle_reasoning();
  void settle_text();

  const Dialect& dialect_;            ///< owned by the codec, which outlives its readers
  std::vector<const Json*> repeats_;  ///< the values in which a chunk that only adds text may differ
  AnswerBuilder builder_;
  EventJson json_ = builder_.event_json();
  CallAssembler calls_{builder_, dialect_.call_ids};
  ThinkTags think_tags_;
  std::string reasoning_field_;      ///< the field in which reasoning arrived
  JsonArray details_;                ///< the assembled `reasoning_details`
  Json extra_content_;               ///< of the message
  std::vector<Citation> citations_;  ///< from the text's annotations
  std::vector<Citation> sources_;    ///< of the whole answer
  JsonObject audio_;
  bool has_choice_ = false;
  bool has_finish_ = false;
  bool has_usage_ = false;
  bool done_ = false;
  std::optional<Error> error_;  ///< the vendor's, within the stream; only usage is read after it
};

}  // namespace praxis::wire::chat
