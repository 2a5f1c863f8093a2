// The agent of a new run: its file, or the default agent, with the limits of the configuration.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/home_folder.hpp"
#include "app/project.hpp"
#include "app/workspace.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::app {

/// Which agent a run gets. What the caller sets replaces what the file says.
struct RunAgent {
  std::string file = {};  ///< empty: the default agent, which has no tools
  std::shared_ptr<const Project> project =
      nullptr;             ///< the trusted project that the file belongs to; null: none
  std::string model = {};  ///< empty: that of the file or the configuration
  std::optional<RouteOrder> route_order = {};
  std::optional<MicroUsd> route_max_usd = {};
  HomeAcceptance accept_home = {};                    ///< null: no tool may reach the home folder
  std::function<void(const std::string&)> warn = {};  ///< gets what is probably a mistake in the file
  /// Gets the team that the file describes, with what its members need for the run; null: a file with
  /// `[team]` is refused.
  std::optional<TeamDescription>* team = nullptr;
};

/// Reads the agent and notes in its metadata what `reopen_run` needs. Its limits are bounded by the
/// configuration, of which a flag replaces a limit and other layers tighten it. Error `kInput`.
Result<Agent> agent_for_run(const RunAgent& wanted, const Workspace& workspace, const Runtime& runtime);

}  // namespace praxis::app
