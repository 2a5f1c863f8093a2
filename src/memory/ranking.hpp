// How a search orders what it found. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace praxis {

/// A note that was found: the scores of the rankings that it is in (more is better), and its age.
struct Scored {
  std::int64_t id = 0;  ///< grows with each write
  std::optional<double> words;
  std::optional<double> pieces;
  std::optional<double> meaning = {};
};

/// A place in the result: the index of the `Scored`, and why it is there.
struct Ranked {
  std::size_t index = 0;
  double score = 0;
  std::optional<std::size_t> words_rank;
  std::optional<std::size_t> pieces_rank;
  std::size_t recency_rank = 0;
  std::optional<std::size_t> meaning_rank = {};
};

/// Fuses the rankings by reciprocal rank: each adds its weight divided by 60 plus the rank. Notes with equal
/// scores share a rank, so that the next ranking decides between them. The best first, at most `limit`.
std::vector<Ranked> fuse(std::span<const Scored> found, std::size_t limit);

/// What a term counts in a score by BM25, if `texts_with_it` of `texts` have it: more the fewer they are.
double rarity(double texts, double texts_with_it);
/// One term of a query in one text.
struct TermCount {
  double in_text = 0;  ///< how often the text has it
  double rarity = 0;   ///< of the term
};
/// The score of a text by BM25, to the last bit that of SQLite. `length` of the text, `average` of all texts.
double bm25(std::span<const TermCount> terms, double length, double average);

/// Gives the elements of `all`, ordered by `is_better`, to `visit` until it returns false. Most callers take
/// a few hundred: the rest is not sorted. Portions grow, so that a caller who takes all waits as for one
/// sort.
template <class Element, class IsBetter, class Visit>
void visit_in_order(std::vector<Element> all, IsBetter is_better, Visit visit) {
  std::ptrdiff_t portion = 512;
  for (auto begin = all.begin(); begin != all.end(); portion *= 2) {
    const auto end = begin + std::min<std::ptrdiff_t>(portion, all.end() - begin);
    std::partial_sort(begin, end, all.end(), is_better);
    for (; begin != end; ++begin) {
      if (!visit(*begin)) return;
    }
  }
}

}  // namespace praxis
