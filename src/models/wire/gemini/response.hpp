// Reads Gemini answers, streamed or whole: no I/O, no clock. Keeps or skips what it does not understand; a
// missing end is an error, never half an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/answer_builder.hpp"
#include "models/answer_json.hpp"
#include "models/wire/gemini/arguments.hpp"

namespace praxis::wire::gemini {

/// Every event of a stream is a response with further parts. A stream without events is an array of such
/// responses.
class ResponseReader final : public AnswerReader {
 public:
  ResponseReader(const CodecTarget& target, Options options) : builder_(target, std::move(options)) {}

  Status read_event(std::string_view name, std::string_view data) override;
  Status read_whole(std::string_view body) override;
  Result<ModelResponse> finish() override;
  bool is_done() const override { return done_; }
  const ModelResponse& so_far() const override { return builder_.response; }
  std::size_t deltas() const override { return builder_.deltas(); }

 private:
  /// A call whose arguments may be incomplete.
  struct OpenCall {
    std::size_t item;
    JsonObject own;  ///< vendor state: the id, if the server set one, and the signature
    PartialArguments arguments;
    bool whole = true;  ///< false: some of the arguments were invalid
  };
  /// Token counts by the vendor's names; each keeps its last reported value.
  struct Counts {
    std::int64_t prompt = 0, tool_prompt = 0, cached = 0, candidates = 0, thoughts = 0;
    bool stated = false;
    Usage usage() const;
  };

  Status read_response(const Json& response);
  void read_feedback(const Json& feedback);
  void read_usage(const Json& usage);
  void read_candidate(const Json& candidate);
  void read_part(const Json& part);
  void read_text(std::string_view text, bool thought, std::string_view signature);
  void read_call(const Json& part);
  void begin_call(const Json& call);
  void end_call(bool complete);
  bool read_media(const Json& part);
  void read_opaque(const Json& part);
  void read_citations(const Json& candidate);
  void cite(Citation citation);
  /// The number of the last part if it is of this kind and may still grow.
  template <class TextLike>
  std::optional<std::size_t> open_item();
  VendorStatePtr signed_by(std::string_view signature) const;
  void attach_citations();

  AnswerBuilder builder_;
  EventJson json_ = builder_.event_json();
  std::optional<OpenCall> open_call_;
  std::vector<Citation> citations_;
  Counts counts_;
  std::string finish_message_;
  bool has_candidate_ = false;
  bool is_blocked_ = false;
  bool is_unary_ = false;
  bool done_ = false;
};

}  // namespace praxis::wire::gemini
