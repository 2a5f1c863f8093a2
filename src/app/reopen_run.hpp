// Opens a run again with the agent that it was made with, so that it can be resumed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/agent_sources.hpp"
#include "app/home_folder.hpp"
#include "app/open_runtime.hpp"
#include "app/workspace.hpp"

namespace praxis::app {

/// How a run is opened again.
struct ReopenOptions {
  RuntimeUse use;
  std::string agent = {};  ///< agent file, if it is no longer where the run found it; else empty
  std::string model = {};  ///< replaces the model of the run; empty: keeps it
  bool force = false;      ///< takes the run from a process that still holds it
  /// Gives the limits of the run from those that it records; null: they stay.
  std::function<Limits(const Limits&)> change_limits = {};
  /// Decides whether the run continues although files of its agent changed since they were recorded; null:
  /// it does not.
  std::function<Status(const AgentChange&)> accept = {};
  /// Decides whether the tools may reach the home folder, unless the run records that the user agreed; null:
  /// they may not.
  HomeAcceptance accept_home = {};
  /// Changes the agent last; null: it stays. Only for `reopen_run_in`.
  std::function<Status(Agent&)> adjust = {};
  bool unfinished =
      false;  ///< opens the run only if it has a turn or queued messages; only for `reopen_run_in`
  bool stays_here = false;  ///< keeps the current folder; else enters the one in which the run was started
};

/// A run that is open and not yet resumed.
struct OpenRun {
  std::shared_ptr<Runtime> runtime;
  Session session;
  std::optional<Team> team = {};  ///< whose conversation the run is; then `session` is not used
};

/// Whether the last turn gave no answer although the model could go on: it ended by an outage, a refused key,
/// or a limit of that turn. `Session::run` continues it. False for a written plan, which would start again.
bool can_continue(const State& state);

/// Opens the run in its folder, which becomes the current one. Relative paths in `options` are read before.
/// Errors: `kInput`, the folder, the agent or the run cannot be used, among them a sub-agent, which continues
/// with its root only; the error of `accept` or `accept_home`; `kJournal` with `lease_held`, another process
/// holds the run.
Result<OpenRun> reopen_run(const StoredSession& stored, const Workspace& workspace,
                           const ReopenOptions& options);
/// The same in a runtime that is open already; keeps the current folder. Error `kInput` for the conversation
/// of a team too.
Result<Session> reopen_run_in(const std::shared_ptr<Runtime>& runtime, const StoredSession& stored,
                              const Workspace& workspace, const ReopenOptions& options);
/// As `reopen_run_in`, but the conversation of a team is opened too.
Result<OpenRun> reopen_any_in(const std::shared_ptr<Runtime>& runtime, const StoredSession& stored,
                              const Workspace& workspace, const ReopenOptions& options);
/// Returns the error that `reopen_run` would give for the folder, the agent, `accept` or `accept_home`,
/// without opening the run or taking it from another process. Enters the folder of the run like `reopen_run`.
Status check_reopening(const StoredSession& stored, const Workspace& workspace, const ReopenOptions& options);

}  // namespace praxis::app
