#include "server/schedule_thread.hpp"

#include <future>
#include <set>
#include <thread>
#include <utility>

#include "app/open_runtime.hpp"
#include "praxis/json/json.hpp"
#include "server/own_executor.hpp"

namespace praxis::server {
namespace {

constexpr std::chrono::seconds kBetweenPasses{2};
constexpr std::chrono::seconds kPatience{30};
constexpr std::chrono::seconds kGrace{10};

/// Starts a run and waits until it is durable. The same schedule and time are the same run.
Status start_scheduled(Runs& runs, const app::Schedule& schedule, UnixMillis time) {
  NewRun run{.agent = schedule.agent, .may_be_preset = true, .prompt = schedule.prompt};
  run.idempotency = schedule.id + " " + to_iso8601(time);
  run.request = to_canonical_json(JsonObject{{"agent", schedule.agent}, {"prompt", schedule.prompt}});
  const auto outcome = std::make_shared<std::promise<Status>>();
  auto durable = outcome->get_future();
  runs.create(std::move(run), {.name = "schedule", .sees_all = true}, [outcome](const Result<Created>& made) {
    outcome->set_value(made ? Status{} : fail(made.error()));
  });
  // The journal may never answer; the same call finds the run later.
  if (durable.wait_for(2 * kPatience) == std::future_status::timeout)
    return fail(ErrorCode::kLimit, "the journal did not take the run in time");
  return durable.get();
}

/// Continues the runs that a process left. One that just ended may count as alive for a moment, so it looks
/// again. Problems go to `warn`, each text once.
void take_up_left_runs(Runs& runs, const ScheduleThread::Warn& warn, const std::stop_token& stop) {
  using namespace std::chrono_literals;
  std::set<std::string> warned;
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  for (const auto later : {0s, 1s, 3s}) {
    never.wait_for(lock, stop, later, [] { return false; });
    if (stop.stop_requested()) return;
    runs.take_up([&](const std::string& text) {
      if (warned.insert(text).second && warn) warn(text);
    });
  }
}

/// Waits until no turn works any more, at most `kGrace`.
void wait_for_turns(const Runtime& runtime) {
  constexpr std::chrono::milliseconds kBetweenLooks{20};
  const auto until = std::chrono::steady_clock::now() + kGrace;
  while (runtime.health().running > 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(kBetweenLooks);
}

}  // namespace

ScheduleThread::ScheduleThread(const app::Workspace& workspace, std::shared_ptr<Runs> runs,
                               std::shared_ptr<Environment> environment, Warn warn) {
  if (!workspace.keeps_runs()) return;
  thread_ = std::jthread([this, &workspace, runs = std::move(runs), environment = std::move(environment),
                          warn = std::move(warn)](const std::stop_token& stop) {
    work(stop, workspace, runs, environment, warn);
  });
}

void ScheduleThread::work(const std::stop_token& stop, const app::Workspace& workspace,
                          const std::shared_ptr<Runs>& runs, const std::shared_ptr<Environment>& environment,
                          const Warn& warn) {
  std::unique_ptr<app::Scheduler> scheduler;
  bool warned = false;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    // The file appears with the first schedule; a database gets its table now, so that a look at it needs no
    // new connection.
    if (!scheduler) {
      if (auto store = app::ScheduleStore::open(workspace, !workspace.in_file())) {
        scheduler = std::make_unique<app::Scheduler>(
            *std::move(store), environment,
            [&](const app::Schedule& schedule, UnixMillis time) {
              return start_scheduled(*runs, schedule, time);
            },
            warn);
      } else if (store.error().kind() != ErrorKind::kNotFound) {
        if (warn && !std::exchange(warned, true))
          warn("no schedule is carried out: " + store.error().message);
        if (!store.error().retriable) return;
      }
    }
    if (scheduler) scheduler->pass();
    never_.wait_for(lock, stop, kBetweenPasses, [] { return false; });
  }
}

Status run_schedules(app::Workspace workspace, const ScheduleThread::Warn& warn, std::stop_token stop) {
  const OwnExecutor executor(make_executor());
  const auto place = std::make_shared<const app::Workspace>(std::move(workspace));
  auto runtime = app::open_runtime(*place, {.principal = Author{"schedule", Surface::kServer},
                                            .begin_queued_turns = true,
                                            .executor = executor.get()});
  if (!runtime) return fail(runtime.error());
  const std::shared_ptr<Journal> journal(*runtime, &(*runtime)->journal());
  const auto load = std::make_shared<Load>(LoadBounds{}, system_environment());
  const auto runs = std::make_shared<Runs>(place, *runtime, journal, executor.get(), load, kPatience);
  runs->start();
  {
    const ScheduleThread thread(*place, runs, system_environment(), warn);
    take_up_left_runs(*runs, warn, stop);
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait(lock, stop, [] { return false; });
  }
  wait_for_turns(**runtime);
  return {};
}

}  // namespace praxis::server
