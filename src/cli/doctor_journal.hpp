// What `doctor` does with a journal besides checking it: `--head` and `--accept-loss`.
#pragma once

#include "cli/console.hpp"
#include "cli/options.hpp"

namespace praxis::cli {

/// Prints where the journal ends, or checks it against the head that the user kept elsewhere.
Result<ExitStatus> show_or_check_head(const DoctorOptions& options, Console& console);
/// Shows what the journal has lost, asks, copies the files, and acknowledges the rest.
Result<ExitStatus> accept_loss(const DoctorOptions& options, Console& console);

}  // namespace praxis::cli
