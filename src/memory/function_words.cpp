#include "memory/function_words.hpp"

#include <algorithm>
#include <array>

namespace praxis {
namespace {

// In order. "s" and "t" are what the division into words leaves of "it's" and "don't".
constexpr auto kFunctionWords = std::to_array<std::string_view>(
    {"a",     "about",   "all",  "also",   "am",    "an",    "and",   "any",   "are",   "as",   "at",
     "be",    "because", "been", "before", "being", "but",   "by",    "can",   "could", "did",  "do",
     "does",  "doing",   "each", "for",    "from",  "had",   "has",   "have",  "he",    "her",  "here",
     "him",   "his",     "how",  "i",      "if",    "in",    "into",  "is",    "it",    "its",  "just",
     "may",   "me",      "must", "my",     "nor",   "not",   "of",    "on",    "or",    "our",  "out",
     "s",     "shall",   "she",  "should", "so",    "some",  "such",  "t",     "than",  "that", "the",
     "their", "them",    "then", "there",  "these", "they",  "this",  "those", "to",    "too",  "us",
     "was",   "we",      "were", "what",   "when",  "where", "which", "while", "who",   "whom", "whose",
     "why",   "will",    "with", "would",  "you",   "your"});
static_assert(std::ranges::is_sorted(kFunctionWords));

}  // namespace

bool is_function_word(std::string_view word) { return std::ranges::binary_search(kFunctionWords, word); }

}  // namespace praxis
