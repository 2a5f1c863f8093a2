// Runs made up from a seed, in an environment where a seed leaves nothing open: with every compiler, at every
// level of optimisation, a run has the same journal and sends the same requests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "praxis/praxis.hpp"

namespace praxis::testing {

struct RecordedRun {
  std::vector<StoredRecord> records;
  std::string exported;            ///< the log as `export_session` gives it
  std::vector<std::string> sent;   ///< requests as they were sent, in all protocols
  std::vector<std::string> again;  ///< the same, rendered from the log
  AgentSpec agent;
};

RecordedRun recorded_run(std::uint64_t seed);

/// What a run amounts to: the digests of its log and of its requests, in one line.
std::string fingerprint(const RecordedRun& run);

/// The golden file: a line a seed, from 1 on.
inline constexpr std::uint64_t kGoldenRuns = 200;
std::string golden_line(std::uint64_t seed);

}  // namespace praxis::testing
