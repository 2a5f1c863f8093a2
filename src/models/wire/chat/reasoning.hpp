// Reads reasoning from the various places where servers put it, and sends it back to the model that made it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "models/codec.hpp"
#include "models/wire/chat/dialect.hpp"

namespace praxis::wire::chat {

/// `OpaquePart::kind` of an audio answer: it is stored but never sent back.
inline constexpr std::string_view kAudio = "audio";

/// `field` of reasoning that arrived as parts of the content.
inline constexpr std::string_view kContentField = "content";

/// Merges a fragment of `reasoning_details` into the list of its message: appends to an entry for the same
/// text, adds other fragments unchanged.
void merge_detail(JsonArray& details, const Json& fragment);

/// The vendor state of reasoning as JSON text: the field in which it arrived (empty: no field of its own) and
/// other data that must be sent back with it.
std::string reasoning_state(std::string_view field, const JsonArray& details, const Json& extra_content);

/// What an assistant message carries in addition to text and calls.
struct Echo {
  std::string fields;     ///< JSON members, each preceded by a comma
  bool thinking = false;  ///< reasoning goes into the content
  bool opaque = false;    ///< opaque parts go into the content
};
Echo echo_of(const Message& message, bool has_calls, const CodecTarget& target, const Dialect& dialect);

/// The vendor state of a part as JSON; null if it is not the target's own.
Json own_state(const VendorStatePtr& state, const CodecTarget& target);

/// Appends the signature stored in such a state, if any, as a JSON member preceded by a comma.
void append_extra_content(std::string& out, const Json& state);

/// Separates `<think>...</think>` at the start of a text from the text that follows. The tags may be split at
/// any byte.
class ThinkTags {
 public:
  struct Piece {
    bool is_reasoning = false;
    std::string_view text;
  };
  /// Calls `take(Piece)` for every decided piece of the text so far.
  template <class Take>
  void feed(std::string_view text, const Take& take) {
    held_ += text;
    while (const auto piece = next()) take(*piece);
    held_.erase(0, used_);
    used_ = 0;
  }
  /// Emits what was held back, at the end of the text.
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
  std::size_t used_ = 0;  ///< bytes of `held_` that were emitted
};

}  // namespace praxis::wire::chat
