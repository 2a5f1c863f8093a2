// Validates and repairs UTF-8. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace praxis {

/// Replaces every invalid UTF-8 sequence by U+FFFD (one per maximal invalid prefix).
std::string repair_utf8(std::string_view bytes);
bool is_valid_utf8(std::string_view bytes);
/// Returns at most the first `most` bytes of `text`, cut between characters.
std::string_view utf8_head(std::string_view text, std::size_t most);

}  // namespace praxis
#pragma GCC visibility pop
