// English words that say nothing about what a text is about.
#pragma once

#include <string_view>

namespace praxis {

/// Whether a word in lower case is an article, pronoun, auxiliary verb, preposition, conjunction or question
/// word.
bool is_function_word(std::string_view word);

}  // namespace praxis
