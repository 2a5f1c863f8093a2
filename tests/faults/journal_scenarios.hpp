// What journals are used for, a step at a time, and the way through all the calls at which a step may fail.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim_disk.hpp"
#include "witness.hpp"

namespace praxis::faults {

/// A journal without sessions, closed. Its name is `j`.
Files fresh_journal(SimDisk& disk);
/// As if the program had ended and been started again.
Status reopen(Witness& witness);

struct JournalScenario {
  std::string name;
  std::function<void(SimDisk&, Witness&)> before;  ///< what never fails
  std::vector<std::function<Status(Witness&)>> steps;
  std::uint64_t stride = 1;  ///< of the calls that are made to fail, in one round
};
const std::vector<JournalScenario>& journal_scenarios();

/// Takes the steps, and tells of each error; then the journal may be closed.
void play(const JournalScenario& scenario, Witness& witness, const std::function<void(const Error&)>& failed);

/// A call of a scenario.
struct Place {
  const JournalScenario* scenario = nullptr;
  std::uint64_t nth = 1;
  std::uint64_t round = 0;  ///< how often all places have been visited before
};

/// Visits all calls of all scenarios, one a seed.
class Sweep {
 public:
  /// `calls` is how many there were, once a scenario was played without trouble.
  Sweep(SimDisk& disk, const std::function<std::uint64_t(const SimDisk&)>& calls);
  Place operator()(std::uint64_t seed) const;

 private:
  std::vector<std::uint64_t> calls_;  // of each scenario
  std::uint64_t places_ = 0;
};

}  // namespace praxis::faults
