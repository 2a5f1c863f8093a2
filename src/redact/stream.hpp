// Redacts text that arrives in pieces.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "redact/detector.hpp"
#include "redact/known_secrets.hpp"

namespace praxis::redact {

/// Replaces what `detector` finds in the concatenation of all pieces, wherever they were cut. Holds back the
/// bytes that later ones could still turn into a secret: usually the last word, at most 16 KiB. Not
/// thread-safe.
class StreamRedactor {
 public:
  /// Null: no rules, or no configured keys.
  StreamRedactor(std::shared_ptr<const Detector> detector, std::string key,
                 std::shared_ptr<const Redactor> known = nullptr)
      : detector_(std::move(detector)), key_(std::move(key)), known_(std::move(known)) {}

  /// Takes the next piece; returns what is decided.
  std::string push(std::string_view piece);
  /// Returns the rest. The next piece begins another text.
  std::string finish();
  /// How many bytes are held back.
  std::size_t held() const { return begun_.size() + buffer_.size() - shown_; }

 private:
  std::string search(std::string_view piece);
  std::string release(std::size_t end);

  std::shared_ptr<const Detector> detector_;
  std::string key_;
  std::shared_ptr<const Redactor> known_;
  std::string begun_;      ///< may be the begin of a configured key
  std::string buffer_;     ///< context that was returned already, then what is held back
  std::size_t shown_ = 0;  ///< bytes of `buffer_` that were returned
  bool in_block_ = false;  ///< inside a key that was longer than what may be held back
};

}  // namespace praxis::redact
