// Typical uses of a journal, step by step, and the enumeration of all calls at which a step may fail.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim_disk.hpp"
#include "witness.hpp"

namespace praxis::faults {

/// Returns a closed journal named `j`, without sessions.
Files fresh_journal(SimDisk& disk);
/// Closes and opens the journal, as a restarted program does.
Status reopen(Witness& witness);

struct JournalScenario {
  std::string name;
  std::function<void(SimDisk&, Witness&)> before;  ///< steps that never fail
  std::vector<std::function<Status(Witness&)>> steps;
  std::uint64_t stride = 1;  ///< distance between the calls that fail in one round
};
const std::vector<JournalScenario>& journal_scenarios();

/// Runs the steps and reports each error; the journal may be closed afterwards.
void play(const JournalScenario& scenario, Witness& witness, const std::function<void(const Error&)>& failed);

/// A disk call of a scenario.
struct Place {
  const JournalScenario* scenario = nullptr;
  std::uint64_t nth = 1;
  std::uint64_t round = 0;  ///< how often all places have been visited before
};

/// Visits all calls of all scenarios, one per seed.
class Sweep {
 public:
  /// `calls` returns how many calls there were after a scenario was played without faults.
  Sweep(SimDisk& disk, const std::function<std::uint64_t(const SimDisk&)>& calls);
  Place operator()(std::uint64_t seed) const;

 private:
  std::vector<std::uint64_t> calls_;  // of each scenario
  std::uint64_t places_ = 0;
};

}  // namespace praxis::faults
