// What a model thought, in the several places where servers put it, and how it goes back to the same model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "models/codec.hpp"
#include "models/wire/chat/dialect.hpp"

namespace praxis::chat {

/// `OpaquePart::kind` of a spoken answer: it is kept, and never sent back.
inline constexpr std::string_view kAudio = "audio";

/// `field` of reasoning that came as parts of the content.
inline constexpr std::string_view kContentField = "content";

/// Joins a fragment of `reasoning_details` to those of its message: pieces of the same text grow together,
/// all else is kept as it came.
void merge_detail(JsonArray& details, const Json& fragment);

/// The vendor state of reasoning, as JSON text: the field it came in (empty: none of its own) and what else
/// has to go back with it.
std::string reasoning_state(std::string_view field, const JsonArray& details, const Json& extra_content);

/// What an assistant message carries besides text and calls.
struct Echo {
  std::string fields;     ///< JSON members, each after a comma
  bool thinking = false;  ///< what was thought goes into the content
  bool opaque = false;    ///< so does what only the vendor understands
};
Echo echo_of(const Message& message, bool has_calls, const CodecTarget& target, const Dialect& dialect);

/// The vendor state of a part as JSON; null when it is not the target's own.
Json own_state(const VendorStatePtr& state, const CodecTarget& target);

/// Appends the signature that such a state holds, if any, as a JSON member after a comma.
void append_extra_content(std::string& out, const Json& state);

/// Tells reasoning from text where both come as one text: `<think>...</think>` at its start. The tags may be
/// cut anywhere.
class ThinkTags {
 public:
  struct Piece {
    bool is_reasoning = false;
    std::string_view text;
  };
  /// Calls `take(Piece)` for what is certain of the text so far.
  template <class Take>
  void feed(std::string_view text, const Take& take) {
    held_ += text;
    while (const auto piece = next()) take(*piece);
    held_.erase(0, used_);
    used_ = 0;
  }
  /// What was held back when the text ended.
  template <class Take>
  void finish(const Take& take) {
    if (!held_.empty()) take(Piece{state_ == State::kThinking, held_});
    held_.clear();
  }

 private:
  enum class State : std::uint8_t { kStart, kThinking, kThought, kText };
  std::optional<Piece> next();
  std::optional<Piece> take(std::size_t length);

  State state_ = State::kStart;
  std::string held_;
  std::size_t used_ = 0;  ///< bytes of `held_` that were handed on
};

}  // namespace praxis::chat
