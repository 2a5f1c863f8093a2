// How a search orders what it found. Pure.
#pragma once

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

/// One term of a query in one text.
struct TermCount {
  double in_text = 0;        ///< how often the text has it
  double texts_with_it = 0;  ///< how many texts have it
};
/// The score of a text by BM25, with the constants of SQLite. `length` of the text, `average` of all texts.
double bm25(std::span<const TermCount> terms, double texts, double length, double average);

}  // namespace praxis
