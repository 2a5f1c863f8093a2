// The statistics of evaluations, as pure functions of counts.
#pragma once

#include <cstdint>
#include <optional>

namespace praxis::evals {

/// The unbiased estimate of pass@k: the probability that at least one of `k` runs passes, when `passed` of
/// `runs` did (Chen et al. 2021). `k` is 1 to `runs`.
double pass_at_k(std::uint64_t runs, std::uint64_t passed, std::uint64_t k);
/// The unbiased estimate of pass^k: the probability that all of `k` runs pass (Yao et al. 2024).
double pass_all_k(std::uint64_t runs, std::uint64_t passed, std::uint64_t k);

struct Interval {
  double low = 0;
  double high = 1;
};
/// The 95 % score interval of a proportion (Wilson 1927, without continuity correction). [0, 1] for no runs.
Interval wilson_interval(std::uint64_t runs, std::uint64_t passed);

/// The two-sided p-value of McNemar's exact test: of `only_first` and `only_second` pairs, in which one of
/// the two passed, how likely a split that is at least as uneven would be if both were equally good.
double mcnemar_exact(std::uint64_t only_first, std::uint64_t only_second);

/// Cohen's kappa of two judges (Cohen 1960): their agreement beyond what chance explains, from the counts of
/// what both pass, only the first, only the second, and neither. Nothing where chance alone explains all.
std::optional<double> cohen_kappa(std::uint64_t both, std::uint64_t only_first, std::uint64_t only_second,
                                  std::uint64_t neither);

}  // namespace praxis::evals
