#include "evals/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace praxis::evals {
namespace {

constexpr double kZ95 = 1.959963984540054;  // the 97.5 % quantile of the normal distribution

/// The probability that `k` of `runs`, drawn without replacement, are all among `wanted` of them.
double all_among(std::uint64_t runs, std::uint64_t wanted, std::uint64_t k) {
  if (k > wanted) return 0;
  double probability = 1;
  for (std::uint64_t i = 0; i < k; ++i)
    probability *= static_cast<double>(wanted - i) / static_cast<double>(runs - i);
  return probability;
}

}  // namespace

double pass_at_k(std::uint64_t runs, std::uint64_t passed, std::uint64_t k) {
  return 1 - all_among(runs, runs - passed, k);
}

double pass_all_k(std::uint64_t runs, std::uint64_t passed, std::uint64_t k) {
  return all_among(runs, passed, k);
}

Interval wilson_interval(std::uint64_t runs, std::uint64_t passed) {
  if (runs == 0) return {};
  const auto n = static_cast<double>(runs);
  const double p = static_cast<double>(passed) / n, z2 = kZ95 * kZ95;
  const double middle = p + z2 / (2 * n), scale = 1 + z2 / n;
  const double half = kZ95 * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  return {std::max(0.0, (middle - half) / scale), std::min(1.0, (middle + half) / scale)};
}

double mcnemar_exact(std::uint64_t only_first, std::uint64_t only_second) {
  const std::uint64_t pairs = only_first + only_second;
  const std::uint64_t fewer = std::min(only_first, only_second);
  // Logarithms, because 2^-pairs underflows where there are many pairs.
  double term = -static_cast<double>(pairs) * std::log(2.0), tail = 0;
  for (std::uint64_t i = 0; i <= fewer; ++i) {
    tail += std::exp(term);
    term += std::log(static_cast<double>(pairs - i) / static_cast<double>(i + 1));
  }
  return std::min(1.0, 2 * tail);
}

std::optional<double> cohen_kappa(std::uint64_t both, std::uint64_t only_first, std::uint64_t only_second,
                                  std::uint64_t neither) {
  const auto all = static_cast<double>(both + only_first + only_second + neither);
  if (all == 0) return std::nullopt;
  const double first = static_cast<double>(both + only_first) / all;
  const double second = static_cast<double>(both + only_second) / all;
  const double chance = first * second + (1 - first) * (1 - second);
  if (chance >= 1) return std::nullopt;
  return (static_cast<double>(both + neither) / all - chance) / (1 - chance);
}

}  // namespace praxis::evals
