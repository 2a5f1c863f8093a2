// The runtime in which a surface runs agents, and the settings with which it reads their files.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/workspace.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::app {

/// How a runtime is used.
struct RuntimeUse {
  Author principal;            ///< the user, by which surface
  bool stream = true;          ///< requests deltas from models
  std::string record_to = {};  ///< a folder that gets the exchanges with models; empty for none
  /// Begins a turn for each queued message; if false, the surface resumes the session, so that it can show
  /// each turn.
  bool begin_queued_turns = false;
  std::shared_ptr<Executor> executor = nullptr;  ///< null: one of its own
  /// Returns the journal to use instead of that of the workspace; null: that one.
  std::function<std::shared_ptr<Journal>(std::shared_ptr<Journal>)> journal = nullptr;
};

/// Opens a runtime on the journal of the workspace, for writing. Errors of `open_journal` and `open_catalog`.
Result<std::shared_ptr<Runtime>> open_runtime(const Workspace& workspace, const RuntimeUse& use);

/// Options for reading agent files: the configured model, the network, and the user's remembered rules.
AgentFileOptions agent_file_options(const Workspace& workspace, const Runtime& runtime);
AgentFileOptions agent_file_options(const Workspace& workspace, std::shared_ptr<HttpClient> http);

/// Records in the agent's metadata, for `reopen_run`, the current folder, and the trusted project that the
/// agent belongs to; null for an agent of the user's own. `home`: the user agreed that its tools reach the
/// home folder.
void remember_place(Agent& agent, const Project* project, bool home);
/// Whether the metadata of a run records that agreement.
bool accepts_home(const Json& metadata);

}  // namespace praxis::app
