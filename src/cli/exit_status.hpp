// The exit statuses of the command line, on which scripts rely, and the mapping of results to them.
#pragma once

#include "praxis/base/result.hpp"
#include "praxis/core/report.hpp"

namespace praxis::cli {

enum class ExitStatus : int {
  kFinished = 0,
  kFailed = 1,
  kUsage = 2,    ///< usage or configuration
  kParked = 3,   ///< waits for an approval or an answer
  kBlocked = 4,  ///< by policy
  kLimit = 5,
  kUnavailable = 6,    ///< provider, authentication or network
  kDiverged = 7,       ///< a replay diverged
  kBelow = 8,          ///< an evaluation is below its threshold, or worse than its baseline
  kInvalidOutput = 9,  ///< the answer violates the requested schema
  kHungUp = 129,
  kInterrupted = 130,
  kTerminated = 143,
};

/// The status for a run's result. `signal`: the signal that interrupted it, or 0.
ExitStatus exit_status(const AgentResult& result, int signal = 0);
/// The status for an error.
ExitStatus exit_status(const Error& error, int signal = 0);

}  // namespace praxis::cli
