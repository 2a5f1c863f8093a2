// What the runs of an evaluation add up to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evals/statistics.hpp"
#include "evals/trial.hpp"

namespace praxis::evals {

/// The runs of one case by one variant.
struct Cell {
  std::string test;
  std::string variant;
  std::vector<const TrialResult*> trials = {};  ///< by repeat
  std::uint64_t passed = 0;

  /// Some of its runs passed, and some did not.
  bool is_flaky() const { return passed > 0 && passed < trials.size(); }
};

struct VariantSummary {
  std::string name;
  std::uint64_t runs = 0, passed = 0, errors = 0, waiting = 0;
  std::uint64_t from_journal = 0;        ///< runs that had ended before
  std::uint64_t flaky = 0;               ///< cases
  double score = 0;                      ///< share of runs that passed, by case, weighted
  std::uint64_t k = 1;                   ///< the fewest runs that any of its cases has
  double pass_at_k = 0, pass_all_k = 0;  ///< by case, weighted
  Interval interval = {};                ///< 95 %, of the share of runs that passed
  Usage usage = {};
  bool has_unknown_price = false;  ///< of at least one run: then the cost says too little
  Millis duration{0};              ///< of all runs together
  std::uint64_t steps = 0, tool_calls = 0, tool_errors = 0;
};

/// What a comparison with an earlier evaluation is against.
inline constexpr const char* kBaselineName = "baseline";

/// One variant against another, or against the same in an earlier evaluation, by pairs of runs: the same case
/// and the same repeat.
struct Comparison {
  std::string variant;
  std::string against;  ///< a variant, or `kBaselineName`
  std::uint64_t pairs = 0;
  std::uint64_t better = 0, worse = 0;  ///< pairs in which only this one, or only the other, passed
  double p_value = 1;                   ///< McNemar's exact test, two-sided

  /// Worse by more than chance explains at the level of 5 %.
  bool is_worse() const { return worse > better && p_value < 0.05; }
};

struct Summary {
  std::vector<VariantSummary> variants;  ///< in the order of the suite
  std::vector<Cell> cells;               ///< by case, then by variant
  std::vector<Comparison> comparisons;   ///< of the further variants with the first, then with the baseline
};

/// Adds up the results, whose trials the summary points to. `baseline`: those of an earlier evaluation; null:
/// none.
Summary summarise(const std::vector<TrialResult>& trials, const std::vector<TrialResult>* baseline = nullptr);

/// The JSON form of a result: an item of `praxis eval --json`, from which `read_baseline` reads it.
JsonObject trial_json(const TrialResult& trial);
/// Members of the envelope.
JsonObject summary_json(const Summary& summary);

/// Reads the output of `praxis eval --json`. Error `kInput`, with the line.
Result<std::vector<TrialResult>> read_baseline(std::string_view text, const std::string& path);

}  // namespace praxis::evals
