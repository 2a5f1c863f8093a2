// How well a text fits what a user has typed of it: the letters in their order, not necessarily next to each
// other. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace praxis::tui {

/// The higher, the better; nothing if `text` does not have all typed characters in their order. Each word of
/// `wanted`, between blanks, is looked for on its own. Capital letters of ASCII count as small ones. Letters
/// at the beginnings of words and next to each other count more, and so does the name at the end of a path.
/// At most the first 64 bytes of `wanted` and the last 512 of `text` are looked at.
std::optional<int> fuzzy_score(std::string_view wanted, std::string_view text);

}  // namespace praxis::tui
