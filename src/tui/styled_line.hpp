// One line of a program's output with its colours, safe to draw below the conversation.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace praxis::tui {

/// Whether the styles of a program's line are kept.
enum class KeepStyles : bool { kNo, kYes };

/// The first line of `output` in at most `columns`. Of its escape sequences only those stay that set colours,
/// bold, faint, italic, underlined or reversed text; a style ends with the line. All other complete sequences
/// (links, titles, cursor, character sets) are removed, and every other control character becomes a symbol. A
/// tab is one space.
std::string styled_line(std::string_view output, std::size_t columns, KeepStyles keep);

}  // namespace praxis::tui
