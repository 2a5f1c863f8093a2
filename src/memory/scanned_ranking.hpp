// The search of the stores that have no index of words: they read their notes, which are ranked here as
// SQLite ranks by its indexes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "memory/ranking.hpp"
#include "praxis/memory/note.hpp"

namespace praxis {

/// What a search sees of a note.
struct NoteText {
  std::string text;                     ///< folded
  std::map<std::string, double> stems;  ///< how often it has each
  double length = 0;                    ///< in words
};
NoteText note_text(const Note& note);

class ScannedRanking {
 public:
  explicit ScannedRanking(const std::vector<std::string>& words);
  /// Takes a note into the statistics, which say how rare each word is. If it has words of the query,
  /// `wanted` decides whether it is ranked. `id`: its place in the order of writing.
  void add(std::int64_t id, const NoteText& note, const std::function<bool()>& wanted);
  /// The best `limit` of each ranking, by their ids.
  std::vector<Scored> best(std::size_t limit) const;

 private:
  struct Candidate {
    std::int64_t id = 0;
    std::vector<double> stems, pieces;  ///< how often it has each word of the query
    double length = 0, bytes = 0;
  };
  Scored scores_of(const Candidate& candidate) const;

  std::vector<std::string> words_, stems_;
  double texts_ = 0, words_in_all_ = 0, bytes_in_all_ = 0;
  std::vector<double> with_stem_, with_piece_;  ///< how many notes have each word of the query
  std::vector<Candidate> candidates_;
};

}  // namespace praxis
