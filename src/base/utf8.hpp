// One decoding step of UTF-8, shared by validation, repair and the JSON writer.
#pragma once

#include <cstddef>
#include <string_view>

namespace praxis {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

/// The sequence at the front of some bytes: a complete well-formed one, or the maximal prefix of an
/// ill-formed one.
struct Utf8Step {
  std::size_t length;  ///< bytes to consume, at least 1
  bool valid;
};

/// Decodes the front of `bytes`, which must not be empty.
Utf8Step utf8_step(std::string_view bytes);

}  // namespace praxis
