// Runs generated from a seed, in an environment that a seed determines completely: with every compiler and at
// every optimisation level, a run writes the same journal and sends the same requests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "praxis/praxis.hpp"

namespace praxis::testing {

struct RecordedRun {
  std::vector<StoredRecord> records;
  std::string exported;            ///< the log as `export_session` returns it
  std::vector<std::string> sent;   ///< requests as sent, in all protocols
  std::vector<std::string> again;  ///< the same requests, rendered from the log
  AgentSpec agent;
};

RecordedRun recorded_run(std::uint64_t seed);

/// The digests of a run's log and of its requests, in one line.
std::string fingerprint(const RecordedRun& run);

/// The golden file: one line per seed, starting with 1.
inline constexpr std::uint64_t kGoldenRuns = 200;
std::string golden_line(std::uint64_t seed);

}  // namespace praxis::testing
