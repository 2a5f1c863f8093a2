// Against worked examples that were published, and against the definitions, by counting.
#include "evals/statistics.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace praxis::evals {
namespace {

/// The shares of all selections of `k` of `runs` in which at least one passes, and in which all pass.
struct Shares {
  double any = 0, all = 0;
};
Shares counted(unsigned runs, unsigned passed, unsigned k) {
  unsigned selections = 0, any = 0, all = 0;
  const unsigned good = (1U << passed) - 1;  // the first runs are those that passed
  for (unsigned chosen = 0; chosen < 1U << runs; ++chosen) {
    if (static_cast<unsigned>(std::popcount(chosen)) != k) continue;
    ++selections;
    any += (chosen & good) != 0 ? 1 : 0;
    all += (chosen & good) == chosen ? 1 : 0;
  }
  return {static_cast<double>(any) / selections, static_cast<double>(all) / selections};
}

TEST(EvalStatistics, PassAtKAndPassAllK_AreTheSharesOfAllSelections) {
  for (unsigned runs = 1; runs <= 9; ++runs) {
    for (unsigned passed = 0; passed <= runs; ++passed) {
      for (unsigned k = 1; k <= runs; ++k) {
        const Shares expected = counted(runs, passed, k);
        EXPECT_NEAR(pass_at_k(runs, passed, k), expected.any, 1e-12) << runs << ' ' << passed << ' ' << k;
        EXPECT_NEAR(pass_all_k(runs, passed, k), expected.all, 1e-12) << runs << ' ' << passed << ' ' << k;
      }
    }
  }
}

/// Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998),
/// table I, method 3.
TEST(EvalStatistics, WilsonInterval_IsThatOfNewcombesTable) {
  const auto expect = [](std::uint64_t runs, std::uint64_t passed, double low, double high) {
    const Interval found = wilson_interval(runs, passed);
    EXPECT_NEAR(found.low, low, 5e-5) << passed << '/' << runs;
    EXPECT_NEAR(found.high, high, 5e-5) << passed << '/' << runs;
  };
  expect(263, 81, 0.2553, 0.3662);
  expect(148, 15, 0.0624, 0.1605);
  expect(20, 0, 0.0, 0.1611);
  expect(29, 1, 0.0061, 0.1718);
  EXPECT_EQ(wilson_interval(0, 0).high, 1.0);
}

/// The first is the example of Fay's package exact2x2 (The R Journal 2/1, 2010): p = 0.06543.
TEST(EvalStatistics, McNemarExact_IsThatOfTheWorkedExample) {
  EXPECT_NEAR(mcnemar_exact(9, 2), 0.06543, 5e-6);
  EXPECT_NEAR(mcnemar_exact(2, 9), 0.06543, 5e-6);
  EXPECT_EQ(mcnemar_exact(0, 0), 1.0);
  EXPECT_EQ(mcnemar_exact(5, 5), 1.0);
  EXPECT_NEAR(mcnemar_exact(0, 6), 2.0 / 64, 1e-12);
  EXPECT_LT(mcnemar_exact(2000, 3000), 1e-10);
  EXPECT_GT(mcnemar_exact(2000, 3000), 0);
}

// The examples of the article "Cohen's kappa" of Wikipedia: grant proposals, and its comparison of two
// tables.
TEST(EvalStatistics, CohenKappa_IsThatOfTheWorkedExamples) {
  EXPECT_NEAR(cohen_kappa(20, 5, 10, 15).value(), 0.4, 1e-12);
  EXPECT_NEAR(cohen_kappa(45, 15, 25, 15).value(), 0.1304, 5e-5);
  EXPECT_NEAR(cohen_kappa(25, 35, 5, 35).value(), 0.2593, 5e-5);
  EXPECT_DOUBLE_EQ(cohen_kappa(3, 0, 0, 2).value(), 1);
  EXPECT_FALSE(cohen_kappa(5, 0, 0, 0)) << "both pass all: chance explains it";
  EXPECT_FALSE(cohen_kappa(0, 0, 0, 0));
}

}  // namespace
}  // namespace praxis::evals
