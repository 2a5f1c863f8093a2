#include "mcp/tasks.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/wait_out.hpp"
#include "mcp/connection.hpp"
#include "mcp/tool_list.hpp"
#include "praxis/base/reach.hpp"

namespace praxis {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxTaskId = 512;
constexpr int kMaxLostAnswers = 5;  ///< in a row
constexpr std::chrono::milliseconds kUsualPause{1'000}, kShortestPause{50}, kLongestPause{30'000};
constexpr std::chrono::milliseconds kCancelTime{1'000};

/// Ids travel in a header too.
bool is_task_id(std::string_view id) {
  return !id.empty() && id.size() <= kMaxTaskId &&
         std::ranges::all_of(id, [](char c) { return c > ' ' && c <= '~'; });
}

/// What a result says of a task: in version 2026-07-28 by itself, before in `task`.
const Json& task_in(const Json& result) {
  const Json& inner = json_at(result, "task");
  return inner.is_object() ? inner : result;
}

Error failed_task(std::string why) {
  return with_reach(make_error(ErrorCode::kTool, ErrorKind::kFailed, std::move(why)), Reach::kAnswered);
}

/// Waits for one task.
class TaskWait {
 public:
  TaskWait(const McpTaskServer& server, const std::string& task, const McpCallOptions& options,
           const McpBounds& bounds)
      : server_(server), task_(task), options_(options), bounds_(bounds) {}

  Result<McpResult> run() {
    if (server_.modern && !options_.answers.empty()) {
      if (auto given = check_not_declined(options_.answers); !given) return fail(std::move(given.error()));
      const auto sent = server_.ask("tasks/update", {{"inputResponses", options_.answers}}, how());
      if (!sent) return ended_or(sent.error());
    }
    for (int lost = 0;;) {
      const auto task = server_.ask("tasks/get", {}, how());
      if (options_.stop.stop_requested()) return stopped();
      if (task) {
        if (auto end = outcome(*task)) return *std::move(end);
      } else if (is_over() || is_answer(task.error()) || ++lost == kMaxLostAnswers) {
        return ended_or(task.error());
      }
      if (task) lost = 0;
      wait_out(pause_of(task.value_or(nullptr)), options_.deadline, options_.stop);
      if (options_.stop.stop_requested()) return stopped();
      if (is_over()) return not_finished();
    }
  }

 private:
  /// The options of one request about the task. What was answered is not an answer to those.
  McpCallOptions how() const {
    McpCallOptions each;
    each.stop = options_.stop;
    each.deadline = options_.deadline;
    each.traceparent = options_.traceparent;
    each.tracestate = options_.tracestate;
    return each;
  }
  bool is_over() const {
    return options_.deadline != Clock::time_point{} && Clock::now() >= options_.deadline;
  }
  static bool is_answer(const Error& error) { return !json_at(error.detail(), "rpc_code").is_null(); }

  std::chrono::milliseconds pause_of(const Json& task) const {
    const std::int64_t wanted = json_int(task, server_.modern ? "pollIntervalMs" : "pollInterval");
    return wanted <= 0 ? kUsualPause
                       : std::clamp(std::chrono::milliseconds(wanted), kShortestPause, kLongestPause);
  }

  McpResult not_finished() const {
    McpResult result;
    result.text = said_;
    result.task = task_;
    return result;
  }

  Result<McpResult> ended_or(const Error& error) const {
    if (options_.stop.stop_requested()) return stopped();
    if (is_over() && !is_answer(error)) return not_finished();
    return fail(error);
  }

  Result<McpResult> stopped() const {
    McpCallOptions briefly;
    briefly.deadline = Clock::now() + kCancelTime;
    const auto asked = server_.ask("tasks/cancel", {}, briefly);
    return fail(with_reach(
        make_error(ErrorCode::kCancelled,
                   std::string("the call was stopped; the server ") +
                       (asked ? "is asked to cancel" : "could not be asked to cancel") + " task " + task_),
        Reach::kSent));
  }

  /// The result that the state of the task gives; nothing while it works.
  std::optional<Result<McpResult>> outcome(const Json& task) {
    const std::string status = json_string(task, "status");
    said_ = mcp_shown(json_text(task, "statusMessage"), bounds_.error_bytes);
    if (status == "working") {
      if (options_.on_progress && !said_.empty()) options_.on_progress(said_, std::nullopt);
      return std::nullopt;
    }
    if (status == "cancelled") return fail(failed_task("the server cancelled the task" + because()));
    const bool is_known = status == "completed" || status == "failed" || status == "input_required";
    if (!is_known)
      return fail(failed_task("the server names the state \"" + mcp_shown(status, 40) +
                              "\", which tasks do not have"));
    if (!server_.modern) return server_.result(result_options());
    if (status == "input_required") return questions(task);
    if (status == "completed") return read_mcp_result(json_at(task, "result"), bounds_);
    const Json& error = json_at(task, "error");
    return fail(error.is_object() ? with_reach(mcp_reported(error, bounds_), Reach::kAnswered)
                                  : failed_task("the task failed" + because()));
  }

  /// What the task asks and has not been answered; nothing if that is on its way.
  std::optional<Result<McpResult>> questions(const Json& task) const {
    JsonObject asked;
    if (const JsonObject* requests = json_at(task, "inputRequests").if_object()) {
      for (const auto& [name, request] : *requests) {
        if (!options_.answers.contains(name)) asked[name] = request;
      }
      if (asked.empty() && !requests->empty()) return std::nullopt;
    }
    return read_mcp_result(JsonObject{{"resultType", "input_required"}, {"inputRequests", std::move(asked)}},
                           bounds_);
  }

  McpCallOptions result_options() const {
    McpCallOptions each = how();
    each.on_progress = options_.on_progress;
    return each;
  }
  std::string because() const { return said_.empty() ? "" : ": " + said_; }

  const McpTaskServer& server_;
  const std::string& task_;
  const McpCallOptions& options_;
  const McpBounds& bounds_;
  std::string said_;  ///< the last status message
};

}  // namespace

bool offers_mcp_tasks(const Json& capabilities, bool modern) {
  if (modern) return json_at(json_at(capabilities, "extensions"), kMcpTasks).is_object();
  const Json& requests = json_at(json_at(capabilities, "tasks"), "requests");
  return json_at(json_at(requests, "tools"), "call").is_object();
}

bool is_mcp_task(const Json& result) {
  return json_string(result, "resultType") == "task" ||
         (json_at(result, "task").is_object() && json_at(result, "content").is_null());
}

Result<McpResult> mcp_task_result(const Json& result, const McpBounds& bounds) {
  const Json& task = task_in(result);
  McpResult made;
  made.task = json_string(task, "taskId");
  if (!is_task_id(made.task))
    return fail(ErrorCode::kTool, ErrorKind::kProtocol,
                "the server gives a task without an id of 1 to 512 visible ASCII characters");
  made.text = mcp_shown(json_text(task, "statusMessage"), bounds.error_bytes);
  return made;
}

Result<McpResult> await_mcp_task(const McpTaskServer& server, const std::string& task,
                                 const McpCallOptions& options, const McpBounds& bounds) {
  if (!is_task_id(task)) return fail(ErrorCode::kInput, "\"task\" must be the id of a task");
  return TaskWait(server, task, options, bounds).run();
}

}  // namespace praxis
