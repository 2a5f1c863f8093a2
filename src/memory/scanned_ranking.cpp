#include "memory/scanned_ranking.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "memory/words.hpp"

namespace praxis {
namespace {

double count_of(const std::string& text, const std::string& piece) {
  double count = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++count;
  return count;
}

/// Keeps the scores of the best `limit` notes of one ranking.
void take_best(const std::vector<Scored>& all, std::optional<double> Scored::* score, std::size_t limit,
               std::map<std::int64_t, Scored>& best) {
  std::vector<const Scored*> order;
  for (const Scored& each : all) {
    if (each.*score) order.push_back(&each);
  }
  std::ranges::sort(order, [&](const Scored* a, const Scored* b) {
    return a->*score != b->*score ? a->*score > b->*score : a->id > b->id;
  });
  if (order.size() > limit) order.resize(limit);
  for (const Scored* each : order)
    best.try_emplace(each->id, Scored{each->id, {}, {}}).first->second.*score = each->*score;
}

}  // namespace

NoteText note_text(const Note& note) {
  NoteText result{folded(searchable_text(note.key, note.value)), {}, 0};
  for (const std::string& word : words_of(result.text)) {
    ++result.stems[stem_of(word)];
    ++result.length;
  }
  return result;
}

ScannedRanking::ScannedRanking(const std::vector<std::string>& words)
    : words_(words), with_stem_(words.size()), with_piece_(words.size()) {
  for (const std::string& word : words) stems_.push_back(stem_of(word));
}

void ScannedRanking::add(std::int64_t id, const NoteText& note, const std::function<bool()>& wanted) {
  Candidate candidate{id, {}, {}, note.length, static_cast<double>(note.text.size())};
  bool has_words = false;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const auto stem = note.stems.find(stems_[i]);
    candidate.stems.push_back(stem == note.stems.end() ? 0 : stem->second);
    candidate.pieces.push_back(has_pieces(words_[i]) ? count_of(note.text, words_[i]) : 0);
    with_stem_[i] += candidate.stems[i] > 0 ? 1 : 0;
    with_piece_[i] += candidate.pieces[i] > 0 ? 1 : 0;
    has_words = has_words || candidate.stems[i] > 0 || candidate.pieces[i] > 0;
  }
  ++texts_;
  words_in_all_ += candidate.length;
  bytes_in_all_ += candidate.bytes;
  if (has_words && wanted()) candidates_.push_back(std::move(candidate));
}

Scored ScannedRanking::scores_of(const Candidate& candidate) const {
  std::vector<TermCount> stems, pieces;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (candidate.stems[i] > 0) stems.push_back({candidate.stems[i], rarity(texts_, with_stem_[i])});
    if (candidate.pieces[i] > 0) pieces.push_back({candidate.pieces[i], rarity(texts_, with_piece_[i])});
  }
  Scored scored{candidate.id, {}, {}};
  if (!stems.empty()) scored.words = bm25(stems, candidate.length, words_in_all_ / texts_);
  if (!pieces.empty()) scored.pieces = bm25(pieces, candidate.bytes, bytes_in_all_ / texts_);
  return scored;
}

std::vector<Scored> ScannedRanking::best(std::size_t limit) const {
  std::vector<Scored> all;
  for (const Candidate& each : candidates_) all.push_back(scores_of(each));
  std::map<std::int64_t, Scored> best;
  take_best(all, &Scored::words, limit, best);
  take_best(all, &Scored::pieces, limit, best);
  std::vector<Scored> result;
  for (const auto& [id, scored] : best) result.push_back(scored);
  return result;
}

}  // namespace praxis
