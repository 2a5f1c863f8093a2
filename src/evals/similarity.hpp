// How alike two texts are, by measures that have a name elsewhere.
#pragma once

#include <cstdint>
#include <string_view>

namespace praxis::evals {

enum class SimilarityMeasure : std::uint8_t {
  kTokenF1,  ///< F1 over the words that both have, as for SQuAD, but with all words
  kRougeL,   ///< F1 over the longest common subsequence of words, as ROUGE-L
};

/// From 0 to 1. Words are runs of letters and digits; case does not count. Of each text only the first 4096
/// words count. Two texts without words are the same.
double similarity(SimilarityMeasure measure, std::string_view answer, std::string_view expected);

}  // namespace praxis::evals
