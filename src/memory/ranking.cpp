#include "memory/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace praxis {
namespace {

// Measured by bench/retrieval: a weight of 0.25 for recency puts the answer first half as often.
constexpr double kFusion = 60, kWordsWeight = 1, kPiecesWeight = 0.5, kRecencyWeight = 0.02,
                 kMeaningWeight = 1;

/// The ranks by `score_of`, from 1; none where there is no score.
template <class ScoreOf>
std::vector<std::optional<std::size_t>> ranks(std::span<const Scored> found, ScoreOf score_of) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (const std::optional<double> score = score_of(found[i])) order.emplace_back(*score, i);
  }
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::optional<std::size_t>> result(found.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double tolerance = 1e-9 * std::abs(order[i].first);
    const bool is_equal = i > 0 && order[i - 1].first - order[i].first <= tolerance;
    result[order[i].second] = is_equal ? result[order[i - 1].second] : i + 1;
  }
  return result;
}

double share(double weight, std::optional<std::size_t> rank) {
  return rank ? weight / (kFusion + static_cast<double>(*rank)) : 0;
}

}  // namespace

std::vector<Ranked> fuse(std::span<const Scored> found, std::size_t limit) {
  const auto words = ranks(found, [](const Scored& each) { return each.words; });
  const auto pieces = ranks(found, [](const Scored& each) { return each.pieces; });
  const auto meaning = ranks(found, [](const Scored& each) { return each.meaning; });
  const auto recency =
      ranks(found, [](const Scored& each) { return std::optional(static_cast<double>(each.id)); });
  std::vector<Ranked> result;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double score = share(kWordsWeight, words[i]) + share(kPiecesWeight, pieces[i]) +
                         share(kRecencyWeight, recency[i]) + share(kMeaningWeight, meaning[i]);
    result.push_back({i, score, words[i], pieces[i], recency[i].value_or(0), meaning[i]});
  }
  std::ranges::sort(result, [&](const Ranked& a, const Ranked& b) {
    return a.score != b.score ? a.score > b.score : found[a.index].id > found[b.index].id;
  });
  if (result.size() > limit) result.resize(limit);
  return result;
}

double rarity(double texts, double texts_with_it) {
  constexpr double kLeast = 1e-6;
  const double log_odds = std::log((texts - texts_with_it + 0.5) / (texts_with_it + 0.5));
  return log_odds > 0 ? log_odds : kLeast;
}

double bm25(std::span<const TermCount> terms, double length, double average) {
  constexpr double kK = 1.2, kB = 0.75;
  double score = 0;
  for (const TermCount& term : terms) {
    const double damped = term.in_text + kK * (1 - kB + kB * length / std::max(average, 1.0));
    score += term.rarity * ((term.in_text * (kK + 1)) / damped);
  }
  return score;
}

}  // namespace praxis
