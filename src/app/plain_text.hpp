// Shows text that is not ours. `visible_text` (base/visible_text.hpp) makes it safe to display; `exact` is
// for a user who must decide about it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/visible_text.hpp"

namespace praxis::app {

/// The exact text on one line. As `\u202e` are written: characters that are invisible, that affect the
/// terminal or the reading order, spaces other than U+0020, combining marks, characters without a known
/// glyph, and look-alikes of ASCII characters in a word or name that has ASCII characters too. Invalid UTF-8
/// bytes become
/// `\xff`. Three spaces and more, and spaces at the end, become `\s{200}`; up to 16 at the start stay.
std::string exact(std::string_view text);
/// The text in double quotes, as used for values in messages.
std::string in_quotes(std::string_view text);
/// The words as a list: `a, b, c`, with `last` before the last one.
std::string joined(const std::vector<std::string>& words, std::string_view last = ", ");
/// Safe text on one line of at most `columns` columns (base/columns.hpp); white space is collapsed, `...`
/// marks a cut.
std::string one_line(std::string_view text, std::size_t columns);

}  // namespace praxis::app
