// M. F. Porter, "An algorithm for suffix stripping", 1980: the algorithm of SQLite's tokenizer `porter`.
#include <array>
#include <span>

#include "memory/words.hpp"

namespace praxis {
namespace {

class PorterStem {
 public:
  explicit PorterStem(std::string_view word) : word_(word) {}

  std::string run() {
    remove_plural();
    remove_past();
    if (ends("y") && has_vowel(word_.size() - 1)) word_.back() = 'i';
    replace_first(kStep2, 0);
    replace_first(kStep3, 0);
    remove_ending();
    if (ends("e")) {
      const std::size_t stem = word_.size() - 1, m = measure(stem);
      if (m > 1 || (m == 1 && !is_short(stem))) word_.pop_back();
    }
    if (ends("ll") && measure(word_.size() - 1) > 1) word_.pop_back();
    return word_;
  }

 private:
  struct Rule {
    std::string_view ending, instead;
  };
  static constexpr std::array<Rule, 20> kStep2{
      {{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"}, {"izer", "ize"},
       {"logi", "log"},    {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"}, {"eli", "e"},
       {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},  {"alism", "al"},
       {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},  {"iviti", "ive"}}};
  static constexpr std::array<Rule, 7> kStep3{{{"icate", "ic"},
                                               {"ative", ""},
                                               {"alize", "al"},
                                               {"iciti", "ic"},
                                               {"ical", "ic"},
                                               {"ful", ""},
                                               {"ness", ""}}};
  static constexpr std::array<std::string_view, 19> kStep4{
      "al",  "ance", "ence", "er",  "ic",  "able", "ible", "ant", "ement", "ment",
      "ent", "ion",  "ou",   "ism", "ate", "iti",  "ous",  "ive", "ize"};

  bool ends(std::string_view ending) const {
    return word_.size() > ending.size() && std::string_view(word_).ends_with(ending);
  }

  bool is_consonant(std::size_t at) const {
    constexpr std::string_view kVowels = "aeiou";
    if (kVowels.contains(word_[at])) return false;
    return word_[at] != 'y' || at == 0 || !is_consonant(at - 1);
  }

  bool has_vowel(std::size_t size) const {
    for (std::size_t i = 0; i < size; ++i) {
      if (!is_consonant(i)) return true;
    }
    return false;
  }

  /// How often a vowel is followed by a consonant in the first `size` letters.
  std::size_t measure(std::size_t size) const {
    std::size_t count = 0;
    for (std::size_t i = 1; i < size; ++i) {
      if (is_consonant(i) && !is_consonant(i - 1)) ++count;
    }
    return count;
  }

  /// Whether the first `size` letters end in consonant, vowel, consonant, the last not w, x or y.
  bool is_short(std::size_t size) const {
    constexpr std::string_view kNot = "wxy";
    return size >= 3 && is_consonant(size - 1) && !is_consonant(size - 2) && is_consonant(size - 3) &&
           !kNot.contains(word_[size - 1]);
  }

  void cut(std::size_t letters) { word_.resize(word_.size() - letters); }

  void remove_plural() {
    if (ends("sses") || ends("ies")) {
      cut(2);
    } else if (ends("s") && !ends("ss")) {
      cut(1);
    }
  }

  void remove_past() {
    if (ends("eed")) {
      if (measure(word_.size() - 3) > 0) cut(1);
      return;
    }
    if (ends("ed") && has_vowel(word_.size() - 2)) {
      cut(2);
    } else if (ends("ing") && has_vowel(word_.size() - 3)) {
      cut(3);
    } else {
      return;
    }
    const std::size_t size = word_.size();
    constexpr std::string_view kStays = "lsz";
    if (ends("at") || ends("bl") || ends("iz")) {
      word_ += 'e';
    } else if (size > 1 && word_[size - 1] == word_[size - 2] && is_consonant(size - 1) &&
               !kStays.contains(word_.back())) {
      cut(1);
    } else if (measure(size) == 1 && is_short(size)) {
      word_ += 'e';
    }
  }

  /// Applies the rule with the longest ending that the word has.
  void replace_first(std::span<const Rule> rules, std::size_t above) {
    const Rule* longest = nullptr;
    for (const Rule& rule : rules) {
      if (ends(rule.ending) && (longest == nullptr || rule.ending.size() > longest->ending.size()))
        longest = &rule;
    }
    if (longest == nullptr || measure(word_.size() - longest->ending.size()) <= above) return;
    cut(longest->ending.size());
    word_ += longest->instead;
  }

  void remove_ending() {
    std::string_view longest;
    for (const std::string_view ending : kStep4) {
      if (ends(ending) && ending.size() > longest.size()) longest = ending;
    }
    const std::size_t stem = word_.size() - longest.size();
    if (longest.empty() || measure(stem) <= 1) return;
    if (longest == "ion" && word_[stem - 1] != 's' && word_[stem - 1] != 't') return;
    cut(longest.size());
  }

  std::string word_;
};

}  // namespace

std::string stem_of(std::string_view word) {
  constexpr std::size_t kMinWord = 3, kMaxWord = 64;  // as SQLite does
  if (word.size() < kMinWord || word.size() > kMaxWord) return std::string(word);
  return PorterStem(word).run();
}

}  // namespace praxis
