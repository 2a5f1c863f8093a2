// Which characters are drawn over or under the one before them.
#pragma once

namespace praxis::app {

/// Whether the character is a combining mark, such as a vowel sign of an Indic script.
bool is_mark(char32_t c);

}  // namespace praxis::app
