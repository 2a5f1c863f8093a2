// Opening a run again with the agent it was made with, so that it can go on.
#pragma once

#include <memory>
#include <string>

#include "cli/turn.hpp"
#include "cli/workspace.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::cli {

/// How a run is to be taken up.
struct TakeUp {
  TurnOutput output;
  std::string agent;   ///< agent file, when it is no longer where the run found it; else empty
  std::string model;   ///< instead of that of the run; empty: as it was
  bool force = false;  ///< also from a process that still holds it
  bool stays_here =
      false;  ///< a person named the folder to work in; else it is the one the run was started in
};

/// A run that is open; nothing of it goes on yet.
struct OpenRun {
  TurnOutput output;  ///< its paths are absolute: the current folder may have changed
  std::shared_ptr<Runtime> runtime;
  Session session;
};

/// Opens the run, in its folder. Errors: `kInput`, the folder, the agent or the run cannot be used, among
/// them a sub-agent, which goes on with its root only; `kJournal` with `lease_held`, another process has it.
Result<OpenRun> take_up(const StoredSession& stored, const Workspace& workspace, TakeUp options);

}  // namespace praxis::cli
