// Reopens a run with its agent, so that it can be resumed.
#pragma once

#include <memory>
#include <string>

#include "cli/turn.hpp"
#include "cli/workspace.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::cli {

/// How to reopen a run.
struct TakeUp {
  TurnOutput output;
  std::string agent;   ///< agent file, if it is no longer where the run found it; empty: as recorded
  std::string model;   ///< replaces the run's model; empty: as recorded
  bool force = false;  ///< take it over from a process that still owns it
  bool stays_here =
      false;  ///< a person named the folder to work in; else it is the one the run was started in
};

/// An open run that is not resumed yet.
struct OpenRun {
  TurnOutput output;  ///< its paths are absolute, because the current folder may have changed
  std::shared_ptr<Runtime> runtime;
  Session session;
};

/// Opens the run in its folder. Error `kInput`: the folder, the agent or the run is not usable; a sub-agent,
/// which resumes with its root, is not either. Error `kJournal` with `lease_held`: another process owns the
/// run.
Result<OpenRun> take_up(const StoredSession& stored, const Workspace& workspace, TakeUp options);

}  // namespace praxis::cli
