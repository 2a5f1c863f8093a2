// Text without the white space around it.
#pragma once

#include <cstddef>
#include <string_view>

namespace praxis {

/// The part of `text` between the `blanks` at its ends; empty if it has nothing else.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n") {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

}  // namespace praxis
