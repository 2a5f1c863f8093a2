// The words of a text, as the stores index and compare them. Pure. SQLite's tokenizers `porter unicode61`
// (with diacritics kept) and `trigram` find the same words and parts of words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis {

/// At most this many words of a query count.
inline constexpr std::size_t kMaxQueryWords = 32;

/// The text in lower case: Latin, Greek and Cyrillic letters.
std::string folded(std::string_view text);
/// The words of a folded text: runs of letters and digits.
std::vector<std::string> words_of(std::string_view folded_text);
/// The words of a query, each once; without function words, if it has others.
std::vector<std::string> query_words(std::string_view query);
/// The stem of a word by Porter's algorithm, which knows English.
std::string stem_of(std::string_view word);
/// Whether a word can be found as a part of others: it has three characters to 64 bytes.
bool has_pieces(std::string_view word);
/// What a search sees of a note: its key and all strings in its value, one a line.
std::string searchable_text(std::string_view key, const Json& value);
/// Which of a query's words the text contains, by their stems or as parts.
std::vector<std::string> matching_words(const std::vector<std::string>& words, std::string_view text);

}  // namespace praxis
