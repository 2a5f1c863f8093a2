// Extractive summary: selects sentences without changing them.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "base/ascii.hpp"
#include "tools/document.hpp"

namespace praxis {

namespace {

constexpr auto kStopWords = std::to_array<std::string_view>(
    {"a",     "about", "after", "all",   "also",  "an",    "and",  "any",  "are",  "as",   "at",
     "be",    "been",  "but",   "by",    "can",   "do",    "does", "for",  "from", "had",  "has",
     "have",  "if",    "in",    "into",  "is",    "it",    "its",  "more", "no",   "not",  "now",
     "of",    "on",    "only",  "or",    "other", "so",    "some", "such", "than", "that", "the",
     "their", "them",  "then",  "there", "these", "they",  "this", "to",   "use",  "used", "was",
     "were",  "when",  "which", "will",  "with",  "would", "you",  "your"});

bool is_space(char c) { return c == ' ' || c == '\t'; }
/// ASCII letters and digits, and every byte of other scripts.
bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::vector<std::string> words_of(std::string_view sentence) {
  std::vector<std::string> words;
  std::string word;
  for (std::size_t i = 0; i <= sentence.size(); ++i) {
    const char c = i < sentence.size() ? sentence[i] : ' ';
    if (in_word(c)) {
      word += lower_case(c);
    } else if (!word.empty()) {
      if (word.size() > 1 && !std::ranges::binary_search(kStopWords, word)) words.push_back(word);
      word.clear();
    }
  }
  return words;
}

/// Whether `line` starts a list item: `- x`, `* x`, `+ x`, `1. x`, `fix: x`.
bool is_item(std::string_view line) {
  if (line.substr(0, line.find_first_of(" \t")).ends_with(':')) return true;
  const auto mark = line.find_first_not_of("0123456789");
  if (mark == std::string_view::npos || mark + 1 >= line.size() || !is_space(line[mark + 1])) return false;
  return mark == 0 ? std::string_view("-*+").find(line[0]) != std::string_view::npos
                   : line[mark] == '.' || line[mark] == ')';
}

/// Whether a sentence ends here: a full stop, question or exclamation mark before white space and not before
/// a lower-case letter.
bool ends_sentence(std::string_view text, std::size_t i) {
  if (text[i] != '.' && text[i] != '!' && text[i] != '?') return false;
  if (i + 1 == text.size()) return true;
  return is_space(text[i + 1]) && i + 2 < text.size() && !(text[i + 2] >= 'a' && text[i + 2] <= 'z');
}

/// Sentences and list items without headings, with white space collapsed.
std::vector<std::string> sentences_of(const std::vector<std::string_view>& lines) {
  std::vector<bool> is_heading(lines.size() + 1);
  for (const Section& section : find_sections(lines)) is_heading[section.first_line - 1] = true;

  std::vector<std::string> sentences;
  std::string block;
  const auto flush = [&] {
    std::size_t start = 0;
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (!ends_sentence(block, i) && i + 1 != block.size()) continue;
      sentences.push_back(block.substr(start, i + 1 - start));
      start = std::min(block.size(), i + 2);
    }
    block.clear();
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = lines[i];
    while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
    while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
    const bool has_words = std::ranges::any_of(line, in_word);
    if (!has_words || is_heading[i] || is_item(line)) flush();
    if (!has_words || is_heading[i]) continue;
    if (!block.empty()) block += ' ';
    block += line;
  }
  flush();
  return sentences;
}

/// The sentences of a text, scored by frequent words that are not covered yet.
class Scores {
 public:
  explicit Scores(const std::vector<std::string>& sentences) {
    std::map<std::string, std::size_t> known;
    for (const std::string& sentence : sentences) {
      auto& words = sentences_.emplace_back();
      for (const std::string& word : words_of(sentence)) {
        words.push_back(known.emplace(word, known.size()).first->second);
        weights_.resize(known.size());
        weights_[words.back()] += 1;
      }
    }
    for (double& weight : weights_) weight = std::log1p(weight);
  }

  /// The mean weight of the words, reduced for sentences that are too short or too long; early sentences get
  /// a bonus of up to half.
  double of(std::size_t sentence) const {
    constexpr double kShort = 4;
    constexpr double kLong = 25;
    double sum = 0;
    for (std::size_t word : sentences_[sentence]) sum += weights_[word];
    const auto length = static_cast<double>(sentences_[sentence].size());
    const double place = static_cast<double>(sentence) / static_cast<double>(sentences_.size());
    return (1.5 - 0.5 * place) * sum / (length + kShort) * std::min(1.0, kLong / (length + 1));
  }

  /// Reduces the weight of the sentence's words, because they are covered now.
  void said(std::size_t sentence) {
    for (std::size_t word : sentences_[sentence]) weights_[word] *= 0.5;
  }

 private:
  std::vector<std::vector<std::size_t>> sentences_;  ///< indices into `weights_`
  std::vector<double> weights_;
};

}  // namespace

std::vector<std::string> summarise(const std::vector<std::string_view>& lines, std::size_t count) {
  const auto sentences = sentences_of(lines);
  Scores scores(sentences);
  std::vector<std::size_t> left(sentences.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  std::vector<std::size_t> chosen;
  while (chosen.size() < count && !left.empty()) {
    const auto best = std::ranges::max_element(left, {}, [&](std::size_t i) { return scores.of(i); });
    chosen.push_back(*best);
    scores.said(*best);
    left.erase(best);
  }
  std::ranges::sort(chosen);
  std::vector<std::string> result;
  for (std::size_t i : chosen) result.push_back(sentences[i]);
  return result;
}

}  // namespace praxis
