// ASCII letter case as protocols compare it, independent of the locale.
#pragma once

#include <string>
#include <string_view>

namespace praxis {

/// Maps A-Z to a-z; returns every other byte unchanged.
inline char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower_case(c);
  return out;
}

}  // namespace praxis
