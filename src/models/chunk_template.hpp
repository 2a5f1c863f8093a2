// A token stream repeats itself: from one chunk to the next often only the text of one field changes. A chunk
// that is equal byte for byte to one already parsed, but for the value of that string, needs no parsing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace praxis::chat {

class ChunkTemplate {
 public:
  /// Remembers a chunk of valid JSON whose only text of interest is the string at `field`. Remembers nothing
  /// when that string cannot be told for certain.
  void learn(std::string_view chunk, std::string_view field);
  void forget() { prefix_.clear(); }

  /// The string at the field when `chunk` fits; nothing when it must be parsed. The view lives as long as
  /// `chunk` and until the next call.
  std::optional<std::string_view> match(std::string_view chunk);

 private:
  std::string prefix_;  ///< up to the opening quote of the field; empty: nothing learned
  std::string middle_;  ///< from its closing quote up to the opening quote of the padding, if any
  std::string suffix_;  ///< from the padding's closing quote on
  bool padded_ = false;
  std::string decoded_;
};

}  // namespace praxis::chat
