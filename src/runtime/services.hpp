// What the sessions of one runtime share.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "praxis/runtime/runtime.hpp"
#include "runtime/agent_tree_registry.hpp"
#include "runtime/inbox_watcher.hpp"
#include "runtime/observers.hpp"
#include "runtime/people.hpp"
#include "runtime/sessions.hpp"
#include "runtime/shared_specs.hpp"

namespace praxis {

/// Immutable, except for the members that are thread-safe themselves. Outlives every session of its runtime.
struct Services {
  RuntimeOptions options;  ///< every pointer is set, except possibly `catalog`
  std::weak_ptr<Runtime> runtime;
  std::shared_ptr<const Scope> root_scope;  ///< of every root: no bounds
  Observers observers;
  LiveSessions live;
  AgentRegistry tree;
  SharedSpecs specs;
  std::shared_ptr<InboxWatcher> inbox_watcher;
  People people;
  std::atomic<bool> stopped = false;  ///< `Runtime::stop` was called: no turn starts
  std::atomic<bool> closing = false;  ///< the runtime is being destroyed: sessions record nothing more

  /// Error `kCancelled` once the runtime was stopped.
  Status accepts_work() const;
  ModelServices model_services() const;
  /// Returns the model of a description. Sessions share the models that were made from a name. Null without
  /// an error for an agent that only follows a plan.
  Result<std::shared_ptr<Model>> model_for(const AgentDescription& agent);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Model>> models_;
};

}  // namespace praxis
