// Redacts text that arrives in pieces.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "redact/detector.hpp"

namespace praxis::redact {

/// Replaces what `detector` finds in the concatenation of all pieces, wherever they were cut. Holds back the
/// bytes that later ones could still turn into a secret: usually the last word, at most 16 KiB. Not
/// thread-safe.
class StreamRedactor {
 public:
  StreamRedactor(std::shared_ptr<const Detector> detector, std::string key)
      : detector_(std::move(detector)), key_(std::move(key)) {}

  /// Takes the next piece; returns what is decided.
  std::string push(std::string_view piece);
  /// Returns the rest. The next piece begins another text.
  std::string finish();
  /// How many bytes are held back.
  std::size_t held() const { return buffer_.size() - shown_; }

 private:
  std::string release(std::size_t end);

  std::shared_ptr<const Detector> detector_;
  std::string key_;
  std::string buffer_;     ///< context that was returned already, then what is held back
  std::size_t shown_ = 0;  ///< bytes of `buffer_` that were returned
  bool in_block_ = false;  ///< inside a key that was longer than what may be held back
};

}  // namespace praxis::redact
