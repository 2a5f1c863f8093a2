#include "evals/similarity.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace praxis::evals {
namespace {

constexpr std::size_t kMostWords = 4096;

/// The words of a text in lower case. Bytes beyond ASCII are letters.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty() && words.size() < kMostWords) words.push_back(std::exchange(word, {}));
  };
  for (const char c : text) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_part =
        is_upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
    if (is_part) {
      word += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else {
      end_word();
    }
  }
  end_word();
  return words;
}

std::size_t common_words(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::map<std::string_view, std::size_t> left;
  for (const std::string& word : a) ++left[word];
  std::size_t common = 0;
  for (const std::string& word : b) {
    const auto found = left.find(word);
    if (found == left.end() || found->second == 0) continue;
    --found->second;
    ++common;
  }
  return common;
}

std::size_t longest_common_subsequence(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::size_t> above(b.size() + 1), row(b.size() + 1);
  for (const std::string& word : a) {
    for (std::size_t i = 0; i < b.size(); ++i)
      row[i + 1] = word == b[i] ? above[i] + 1 : std::max(above[i + 1], row[i]);
    std::swap(above, row);
  }
  return above.back();
}

}  // namespace

double similarity(SimilarityMeasure measure, std::string_view answer, std::string_view expected) {
  const auto a = words_of(answer), b = words_of(expected);
  if (a.empty() || b.empty()) return a.empty() && b.empty() ? 1 : 0;
  const std::size_t common =
      measure == SimilarityMeasure::kTokenF1 ? common_words(a, b) : longest_common_subsequence(a, b);
  // 2PR / (P + R), where P and R have the same numerator.
  return 2 * static_cast<double>(common) / static_cast<double>(a.size() + b.size());
}

}  // namespace praxis::evals
