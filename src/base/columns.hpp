// How many columns of a terminal a text takes, counted in one way for everything that is cut, filled or
// broken to a width. The text is safe (`visible_text`), and has neither line feeds nor tabs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace praxis {

/// 0 for combining marks and joiners, 2 for wide characters, 1 otherwise, by the tables of Unicode 14.
std::size_t columns_of(char32_t c);
/// The same for a text. A selector of the emoji form widens the symbol before it, as newer terminals do;
/// older ones then show one column less.
std::size_t columns_of(std::string_view text);
/// Upper bound for every terminal, also those with older or no tables: for text that must never be wrapped by
/// the terminal, because an approver relies on where its lines begin.
std::size_t most_columns_of(std::string_view text);

/// The longest start of the text that takes at most `columns`; marks stay with their letter.
std::string_view first_columns(std::string_view text, std::size_t columns);
/// The text in at most `columns`; `...` marks a cut.
std::string cut_to(std::string_view text, std::size_t columns);
/// The text followed, or preceded, by as many spaces as fill `columns`.
std::string padded(std::string_view text, std::size_t columns);
std::string padded_left(std::string_view text, std::size_t columns);

}  // namespace praxis
