// Reads Chat Completions answers, streamed or whole, from any server of the family: no I/O, no clock. What it
// cannot understand it skips; what is missing at the end is an error, never half an answer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/chat_dialect.hpp"
#include "models/chunk_template.hpp"
#include "praxis/models/model.hpp"

namespace praxis::chat {

/// Reads one answer. Not thread-safe.
class ResponseReader {
 public:
  struct Options {
    Dialect dialect = kOpenAi;
    ModelSink* deltas = nullptr;  ///< null: nobody wants them
    std::string call_prefix;      ///< of the ids invented for calls that come without a usable one
    std::function<bool(std::string_view)>
        call_taken;  ///< whether the conversation already has a call of this id
  };
  explicit ResponseReader(Options options) : options_(std::move(options)) {}

  /// The data of one server-sent event. An error is the answer's end.
  Status read_event(std::string_view data);
  /// The body of an answer that is not streamed.
  Status read_whole(std::string_view body);

  /// The answer, after its last byte. Without usage from the vendor, `usage` is zero and marked as estimated.
  /// Error: `truncated_stream` when the answer's end was never seen.
  Result<ModelResponse> finish();
  /// Whether the vendor said that nothing follows: how the connection ends no longer matters.
  bool is_done() const { return done_; }
  /// How many deltas there were so far.
  std::size_t deltas() const { return deltas_; }

 private:
  /// A tool call under construction.
  struct Call {
    std::size_t item = 0;               ///< in the response's parts
    std::optional<std::int64_t> index;  ///< the vendor's
    std::string vendor_id;
    bool announced = false;
  };
  struct Fragment {
    std::optional<std::int64_t> index;
    std::string_view id, name;
    std::string arguments;
  };

  // `whole` says that the message stands in one piece, not as a delta.
  Status read_chunk(const Json& chunk, bool whole);
  Status read_choice(const Json& choice, bool whole);
  void read_usage(const Json& usage);
  void read_message(const Json& message, bool whole);
  void read_reasoning(const Json& message);
  void read_content(const Json& content);
  void read_tool_calls(const Json& calls, bool whole);

  template <class TextLike>
  std::uint32_t append(std::string_view text);
  void add_text(std::string_view text);
  void add_reasoning(std::string_view text);
  void add_refusal(std::string_view text);
  void add_fragment(const Fragment& fragment, bool always_new);
  void add_arguments(Call& call, std::string_view bytes);
  Call* find_call(const Fragment& fragment);
  void announce(Call& call);
  std::string usable_id(const Call& call) const;
  ToolCallPart& part_of(const Call& call);
  /// Notes that the chunk held content: the string at `field`, or (empty) something of another shape.
  void contributed(std::string_view field);
  void emit(const ModelDelta& delta);

  Options options_;
  ModelResponse response_;
  std::vector<Call> calls_;
  bool has_choice_ = false;
  bool has_finish_ = false;
  bool has_usage_ = false;
  bool done_ = false;
  std::size_t deltas_ = 0;

  ChunkTemplate template_;
  // Of the chunk being parsed, so that the next one like it need not be.
  std::string_view field_;         ///< where its text stood
  std::size_t contributions_ = 0;  ///< how many pieces of content it held
  std::size_t last_call_ = 0;      ///< the call to which its arguments belonged
};

}  // namespace praxis::chat
