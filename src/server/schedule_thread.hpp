// Carries out the schedules of a journal through `Runs`: in the server, and in the foreground.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "app/schedules.hpp"
#include "server/runs.hpp"

namespace praxis::server {

/// Looks for due schedules every few seconds, on a thread of its own, from construction to destruction. The
/// id of a run follows from its schedule and time, so that several processes start it once.
class ScheduleThread {
 public:
  using Warn = std::function<void(const std::string&)>;
  /// `workspace` must live as long. A journal that is not a file has no schedules.
  ScheduleThread(const app::Workspace& workspace, std::shared_ptr<Runs> runs,
                 std::shared_ptr<Environment> environment, Warn warn);

 private:
  void work(const std::stop_token& stop, const app::Workspace& workspace, const std::shared_ptr<Runs>& runs,
            const std::shared_ptr<Environment>& environment, const Warn& warn);

  std::mutex mutex_;
  std::condition_variable_any never_;
  std::jthread thread_;
};

/// Carries out the schedules of a workspace until `stop`, without serving anything else, and continues the
/// runs that a process left. Returns once no run works any more, at most ten seconds after that; runs that
/// still work then stay in the journal, to be continued. Errors: of `open_runtime`.
Status run_schedules(app::Workspace workspace, const ScheduleThread::Warn& warn, std::stop_token stop);

}  // namespace praxis::server
