// Takes paths and queries apart.
#pragma once

#include <string_view>

namespace praxis::server {

/// Calls `take` with each part between separators; once with all of a text without any.
template <class Take>
void split(std::string_view text, char separator, Take take) {
  while (true) {
    const std::size_t end = text.find(separator);
    take(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace praxis::server
