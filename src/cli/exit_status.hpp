// The exit statuses of the command line, which scripts rely on, and what each result amounts to.
#pragma once

#include "praxis/base/result.hpp"
#include "praxis/core/report.hpp"

namespace praxis::cli {

enum class ExitStatus : int {
  kFinished = 0,
  kFailed = 1,
  kUsage = 2,    ///< usage or configuration
  kParked = 3,   ///< waits for a person
  kBlocked = 4,  ///< by policy
  kLimit = 5,
  kUnavailable = 6,    ///< provider, authentication or network
  kDiverged = 7,       ///< a replay
  kInvalidOutput = 9,  ///< the answer does not fit the schema that was asked for
  kInterrupted = 130,
  kTerminated = 143,
};

/// The status of a run's result. `signal` is the one that interrupted it, 0 for none.
ExitStatus exit_status(const AgentResult& result, int signal = 0);
/// The status when there is no result but an error.
ExitStatus exit_status(const Error& error, int signal = 0);

}  // namespace praxis::cli
