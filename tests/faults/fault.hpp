// Faults that are injected on purpose, and how often. `praxis_faults` runs them; each has a file in this
// folder.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "must.hpp"
#include "praxis/base/result.hpp"

namespace praxis::faults {

/// Breaks something once, as determined by `seed`: the same seed breaks the same thing at the same place.
/// Reports violations through GoogleTest's assertions or exceptions.
using Run = std::function<void(std::uint64_t seed)>;

/// One kind of fault.
struct Fault {
  std::string name;        ///< for ONLY=; lower case, words joined by `_`
  std::string breaks;      ///< what is broken, in a few words: a cell of the table
  std::string holds;       ///< what must hold: a cell of the table
  std::uint64_t few = 0;   ///< runs in every check
  std::uint64_t many = 0;  ///< runs on demand
  /// Prepares what the runs share; called in a process of its own.
  std::function<Run()> start;
};

/// Thrown by a run that could not break anything here, with the reason: for features that a machine may lack.
struct Skipped {
  std::string why;
};

/// A small generator (splitmix64) that gives the same numbers with every compiler and library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  /// From 0 to `count` - 1; `count` is at least 1.
  std::uint64_t below(std::uint64_t count) { return operator()() % count; }
  /// True once in `times`, on average.
  bool once_in(std::uint64_t times) { return below(times) == 0; }

 private:
  std::uint64_t state_;
};

/// Reports an error as a failure of the run, which continues.
inline void expect_ok(const Status& status) { EXPECT_TRUE(status) << status.error().message; }

using testing::must;

/// The steps that runs have made in this process since they were last reported.
inline std::uint64_t unreported_steps = 0;
/// For runs that count their steps: a fault that does is reported with its steps a second.
inline void count_steps(std::uint64_t made) { unreported_steps += made; }

/// Returns all faults, in the order of the table.
std::vector<Fault> all_faults();

}  // namespace praxis::faults
