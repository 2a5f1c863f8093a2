// Finds many words in one pass (Aho-Corasick). Letters match in any case, and each digit matches every digit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace praxis::redact {

/// One word: where it ends, and its number.
struct KeywordHit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint32_t word = 0;
};

/// An automaton over a fixed list of words. Immutable; thread-safe.
class Keywords {
 public:
  /// `words` are lower case and not empty.
  explicit Keywords(const std::vector<std::string_view>& words);

  /// Calls `found(KeywordHit)` for each occurrence, in the order of their ends.
  template <typename Found>
  void scan(std::string_view text, Found found) const;

  /// How many bytes at the end of `text` are the begin of a word.
  std::size_t unfinished(std::string_view text) const;

 private:
  struct Output {
    std::uint32_t word = 0;
    std::uint32_t length = 0;
  };

  std::uint32_t next(std::uint32_t state, char c) const {
    return steps_[state + classes_[static_cast<unsigned char>(c)]];
  }

  std::array<std::uint8_t, 256> classes_{};
  std::uint32_t stride_ = 1;          ///< steps of one state
  std::vector<std::uint32_t> steps_;  ///< offset of the next state, with `kHit` if it ends a word
  std::vector<std::uint32_t> first_;  ///< per state: first of its outputs
  std::vector<std::uint32_t> depth_;  ///< per state
  std::vector<Output> outputs_;
  static constexpr std::uint32_t kHit = 0x80000000U;
};

template <typename Found>
void Keywords::scan(std::string_view text, Found found) const {
  std::uint32_t state = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const std::uint32_t* steps = steps_.data();
  for (std::size_t i = 0; i < text.size(); ++i) {
    state = steps[state + classes_[bytes[i]]];
    if ((state & kHit) == 0) [[likely]]
      continue;
    state &= ~kHit;
    const std::uint32_t row = state / stride_;
    for (std::uint32_t k = first_[row]; k < first_[row + 1]; ++k)
      found(KeywordHit{i + 1 - outputs_[k].length, i + 1, outputs_[k].word});
  }
}

}  // namespace praxis::redact
