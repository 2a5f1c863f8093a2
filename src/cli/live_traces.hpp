// Sends the traces of the runs that a command makes, as they end.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/workspace.hpp"
#include "cli/console.hpp"
#include "telemetry/live_export.hpp"

namespace praxis::cli {

/// Begins to send the traces of the workspace's journal, which must exist, if a collector is configured; else
/// null, as for a journal in memory. What cannot be used is said by `warn`, which is called on any thread,
/// also later, and no error: a run does not depend on its traces.
std::unique_ptr<telemetry::LiveExport> live_traces(const app::Workspace& workspace,
                                                   std::function<void(const std::string&)> warn);
/// The same, with warnings on standard error. The console must live as long as the result.
std::unique_ptr<telemetry::LiveExport> live_traces(const app::Workspace& workspace, Console& console);

}  // namespace praxis::cli
