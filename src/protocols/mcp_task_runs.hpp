// Runs of agents as the tasks of an MCP server on a pair of descriptors.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "app/workspace.hpp"
#include "mcp/served_tasks.hpp"
#include "praxis/runtime/runtime.hpp"

namespace praxis::protocols {

/// Thread-safe.
class McpTaskRuns {
 public:
  /// `is_served` says whether a client may see a run; `reading` is held while the files of an agent are read.
  /// `workspace` must outlive this.
  McpTaskRuns(const app::Workspace& workspace, std::shared_ptr<Runtime> runtime,
              std::shared_ptr<std::mutex> reading, std::function<bool(const SessionRow&)> is_served)
      : workspace_(workspace),
        runtime_(std::move(runtime)),
        reading_(std::move(reading)),
        is_served_(std::move(is_served)) {}

  /// Begins a run. Returns once its first message is durable.
  Result<ServedTask> begin(const Agent& agent, const std::string& prompt, const TraceContext& caller);
  /// As the functions of `McpServedTasks`. A run that a process left in the middle of its turn is continued.
  Result<ServedTask> find(const std::string& id);
  Status answer(const std::string& id, const JsonObject& answers);
  Status cancel(const std::string& id);

 private:
  Result<app::StoredSession> stored(const std::string& id) const;
  /// The session of a run that has not ended. Error: another process has it.
  Result<Session> at_hand(const app::StoredSession& run);

  const app::Workspace& workspace_;
  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<std::mutex> reading_;
  const std::function<bool(const SessionRow&)> is_served_;
  std::mutex mutex_;  ///< guards the next member
  std::map<SessionId, Session> open_;
};

}  // namespace praxis::protocols
