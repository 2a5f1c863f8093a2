#include "protocols/mcp_task_runs.hpp"

#include <algorithm>
#include <future>
#include <utility>
#include <variant>

#include "app/mcp_task_run.hpp"
#include "app/pending_steps.hpp"
#include "app/reopen_run.hpp"

namespace praxis::protocols {
namespace {

/// Marks the message of a task in its metadata: a run that was begun otherwise is no task of a client.
constexpr const char* kTaskMark = "mcp_task";

bool is_task(const app::StoredSession& run) {
  return std::ranges::any_of(run.records, [](const StoredRecord& each) {
    const auto* const added = std::get_if<records::MessageAppended>(&each.record.body);
    return added != nullptr && json_bool(added->message->metadata, kTaskMark);
  });
}

Result<ServedTask> task_of(const app::StoredSession& run) {
  const auto pending =
      run.state.turn ? app::pending_steps(run) : Result<std::vector<ParkedStep>>(std::vector<ParkedStep>{});
  if (!pending) return fail(pending.error());
  return app::mcp_task_of(run, *pending);
}

}  // namespace

Result<ServedTask> McpTaskRuns::begin(const Agent& agent, const std::string& prompt,
                                      const TraceContext& caller) {
  auto session = runtime_->create_session(agent, nullptr, caller);
  if (!session) return fail(std::move(session.error()));
  // Settled by whichever comes first; events follow what is durable.
  struct Begun {
    std::once_flag once;
    std::promise<Status> promise;
    void settle(Status status) {
      std::call_once(once, [&] { promise.set_value(std::move(status)); });
    }
  };
  const auto begun = std::make_shared<Begun>();
  const Subscription watch = session->on("turn.started", [begun](const Event&) { begun->settle({}); });
  const SessionId id = session->session_id();
  {
    const std::lock_guard lock(mutex_);
    open_.emplace(id, *session);
  }
  Message message = text_message(Role::kUser, prompt);
  message.metadata = JsonObject{{kTaskMark, true}};
  session->send(std::move(message), nullptr, [begun](const Result<AgentResult>& report) {
    begun->settle(report ? Status() : Status(fail(report.error())));
  });
  if (auto status = begun->promise.get_future().get(); !status) return fail(std::move(status.error()));
  return find(id.str());
}

Result<app::StoredSession> McpTaskRuns::stored(const std::string& id) const {
  const std::shared_ptr<Journal> journal(runtime_, &runtime_->journal());
  const auto row = journal->session(SessionId(id));
  if (row && row->parent.empty() && is_served_(*row)) {
    auto run = app::read_session(journal, row->id);
    if (!run || is_task(*run)) return run;
  }
  return fail(ErrorCode::kInput, "there is no task \"" + id + '"');
}

Result<Session> McpTaskRuns::at_hand(const app::StoredSession& run) {
  const std::lock_guard lock(mutex_);
  if (const auto found = open_.find(run.id); found != open_.end()) return found->second;
  const std::lock_guard alone(*reading_);
  auto session = app::reopen_run_in(runtime_, run, workspace_, {.use = {}});
  if (!session) return session;
  open_.emplace(run.id, *session);
  session->resume([](const Result<AgentResult>&) {});  // the log has how it ends
  return session;
}

Result<ServedTask> McpTaskRuns::find(const std::string& id) {
  const auto run = stored(id);
  if (!run) return fail(run.error());
  if (!run->state.turn) {
    const std::lock_guard lock(mutex_);
    open_.erase(run->id);
    return task_of(*run);
  }
  const auto session = at_hand(*run);
  auto task = task_of(*run);
  if (task && !session) task->message = session.error().message;
  return task;
}

Status McpTaskRuns::answer(const std::string& id, const JsonObject& answers) {
  const auto run = stored(id);
  if (!run) return fail(run.error());
  if (!run->state.turn) return {};
  const auto pending = app::pending_steps(*run);
  if (!pending) return fail(pending.error());
  auto session = at_hand(*run);
  if (!session) return fail(session.error());
  for (const app::McpDecision& each : app::mcp_decisions(run->id, *pending, answers)) {
    if (auto done = session->decide(ParkId(each.step), each.approval); !done) return done;
  }
  return {};
}

Status McpTaskRuns::cancel(const std::string& id) {
  const auto run = stored(id);
  if (!run) return fail(run.error());
  if (!run->state.turn) return {};
  auto session = at_hand(*run);
  if (!session) return fail(session.error());
  session->interrupt();
  return {};
}

}  // namespace praxis::protocols
