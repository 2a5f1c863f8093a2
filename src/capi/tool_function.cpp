#include "capi/tool_function.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "base/worker_pool.hpp"
#include "capi/boundary.hpp"
#include "praxis/json/describe.hpp"

namespace praxis::capi {
namespace {

/// The calls that the current thread is inside of, the innermost first.
struct Inside {
  const Runtime* runtime;
  const ToolContext* context;
  const Inside* outer;
};
thread_local const Inside* innermost = nullptr;

class Entered {
 public:
  Entered(const Runtime* runtime, const ToolContext& context) : inside_{runtime, &context, innermost} {
    innermost = &inside_;
  }
  ~Entered() { innermost = inside_.outer; }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  const Inside inside_;
};

/// Counts a function as running.
class Running {
 public:
  explicit Running(Functions& functions) : functions_(functions) { functions_.begin(); }
  ~Running() { functions_.end(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Functions& functions_;
};

/// A call in the table of handles for as long as it runs.
class OpenCall {
 public:
  explicit OpenCall(ToolContext& context)
      : call_(std::make_shared<CallObject>(context)), handle_(Handles::all().add(call_)) {}
  ~OpenCall() { end(); }
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;

  std::uint64_t handle() const { return handle_; }
  /// The call cannot be used from now on; gives what it returned.
  std::optional<Result<ToolOutput>> end() {
    Handles::all().remove(handle_);
    const std::lock_guard lock(call_->mutex);
    call_->context = nullptr;
    return std::exchange(call_->result, std::nullopt);
  }

 private:
  const std::shared_ptr<CallObject> call_;
  const std::uint64_t handle_;
};

std::unexpected<Error> tool_failed(ErrorKind kind, std::string message) {
  return fail(ErrorCode::kTool, kind, std::move(message));
}

}  // namespace

void Functions::wait(std::chrono::milliseconds limit) {
  const WaitForTasks wait;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return running_ == 0; });
  changed_.wait_for(lock, limit, [this] { return existing_ == 0; });
}

void ToolFunction::count_in(std::shared_ptr<Functions> functions) {
  functions_ = std::move(functions);
  functions_->added();
}

ToolFunction::~ToolFunction() {
  try {
    if (release_ != nullptr) release_(user_);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the function belongs to the caller, who has no use for it
  }
  if (functions_) functions_->released();
}

Result<ToolOutput> ToolFunction::call(const Runtime* runtime, ToolContext& context,
                                      const Json& arguments) const {
  const std::string text = to_json_text(arguments);
  const Running running(*functions_);
  const Entered entered(runtime, context);
  OpenCall open(context);
  int status = 0;
  try {
    status = function_(user_, open.handle(), text.c_str());
  } catch (const std::exception& exception) {
    return tool_failed(ErrorKind::kException, repair_utf8(exception.what()));
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread is being ended
  } catch (...) {
    return tool_failed(ErrorKind::kException, "the function threw what is no std::exception");
  }
  auto result = open.end();
  if (result && !*result) return *std::move(result);
  if (status != 0) return tool_failed(ErrorKind::kFailed, "the function returned " + std::to_string(status));
  if (!result) return tool_failed(ErrorKind::kFailed, "the function returned without a result");
  return *std::move(result);
}

/// The definition as the caller writes it.
struct ToolText {
  std::string name;
  std::string description;
  Json parameters;
  Millis timeout{30'000};
  bool idempotent = false;
  bool needs_approval = false;
  bool safe_by_default = true;
  std::uint32_t retries = 0;
  bool fatal_errors = false;
};
PRAXIS_FIELDS(ToolText, name, description, parameters, timeout, idempotent, needs_approval, safe_by_default,
              retries, fatal_errors)

Result<Tool> tool_of(const Json& definition, std::shared_ptr<const ToolFunction> function,
                     const std::shared_ptr<Runtime>& runtime) {
  if (function->is_missing()) return fail(ErrorCode::kInput, "the function of the tool is NULL");
  ToolText text;
  if (definition.is_null()) return fail(ErrorCode::kInput, "a tool needs a definition");
  if (auto read = read_settings(definition, "tool", text); !read) return fail(std::move(read.error()));
  if (text.parameters.is_null())
    text.parameters = JsonObject{{"type", "object"}, {"properties", JsonObject{}}};
  Tool tool;
  tool.definition.name = std::move(text.name);
  tool.definition.description = std::move(text.description);
  tool.definition.parameters = std::move(text.parameters);
  tool.definition.timeout = text.timeout;
  tool.definition.idempotent = text.idempotent;
  tool.definition.needs_approval = text.needs_approval;
  tool.definition.safe_by_default = text.safe_by_default;
  tool.retries = text.retries;
  tool.fatal_errors = text.fatal_errors;
  tool.handler = [function = std::move(function), in = runtime.get()](ToolContext& context,
                                                                      const Json& arguments) {
    return function->call(in, context, arguments);
  };
  if (auto checked = check(tool.definition); !checked) return fail(std::move(checked.error()));
  return tool;
}

Status check_outside(const RuntimeObject& runtime, const char* what) {
  for (const Inside* inside = innermost; inside != nullptr; inside = inside->outer) {
    if (inside->runtime == runtime.runtime.get())
      return fail(ErrorCode::kInput, std::string("a tool cannot ") + what + ": it would wait for itself");
  }
  return {};
}

Status check_not_waiting_for_itself(const RuntimeObject& runtime, const SessionId& session) {
  if (innermost == nullptr) return {};
  std::vector<AgentNode> nodes;
  for (const Inside* inside = innermost; inside != nullptr; inside = inside->outer) {
    if (inside->runtime != runtime.runtime.get()) continue;
    if (nodes.empty()) nodes = runtime.runtime->agent_tree();
    for (SessionId id = inside->context->session; !id.empty();) {
      if (id == session)
        return fail(ErrorCode::kInput,
                    "a tool cannot wait for the run that it belongs to (session " + session.str() + ')');
      const auto node = std::ranges::find(nodes, id, &AgentNode::id);
      id = node == nodes.end() ? SessionId{} : node->parent;
    }
  }
  return {};
}

}  // namespace praxis::capi

using praxis::capi::CallObject;

namespace {

/// Calls `act` with the call in progress, under its lock.
template <class Act>
praxis_status in_call(praxis_call handle, Act act) noexcept {
  return praxis::capi::guarded([&]() -> praxis::Status {
    auto call = praxis::capi::Handles::all().find<CallObject>(handle);
    if (!call) return praxis::fail(std::move(call.error()));
    const std::lock_guard lock((*call)->mutex);
    if ((*call)->context == nullptr) return praxis::fail(praxis::ErrorCode::kInput, "the call has ended");
    return act(**call);
  });
}

praxis::Status end_call(CallObject& call, praxis::Result<praxis::ToolOutput> result) {
  if (call.result) return praxis::fail(praxis::ErrorCode::kInput, "the call has its result already");
  call.result = std::move(result);
  return {};
}

}  // namespace

praxis_status praxis_call_return(praxis_call handle, const char* value) {
  return in_call(handle, [&](CallObject& call) -> praxis::Status {
    if (value == nullptr) return praxis::fail(praxis::ErrorCode::kInput, "value is NULL");
    auto json = praxis::capi::json_of(value, "value");
    if (!json) return praxis::fail(std::move(json.error()));
    praxis::ToolOutput output;
    output.text = praxis::to_plain_text(*json);
    if (!json->is_string()) output.value = *std::move(json);
    return end_call(call, std::move(output));
  });
}

praxis_status praxis_call_fail(praxis_call handle, const char* message, int retriable) {
  return in_call(handle, [&](CallObject& call) -> praxis::Status {
    auto text = praxis::capi::text_of(message, "message");
    if (!text) return praxis::fail(std::move(text.error()));
    return end_call(call, praxis::fail(praxis::ErrorCode::kTool, praxis::ErrorKind::kFailed, *std::move(text),
                                       retriable != 0));
  });
}

praxis_status praxis_call_progress(praxis_call handle, const char* text, double fraction) {
  return in_call(handle, [&](CallObject& call) -> praxis::Status {
    auto copy = praxis::capi::text_of(text, "text");
    if (!copy) return praxis::fail(std::move(copy.error()));
    if (!(fraction <= 1)) return praxis::fail(praxis::ErrorCode::kInput, "fraction must be at most 1");
    call.context->progress(*std::move(copy), fraction < 0 ? std::optional<double>() : fraction);
    return {};
  });
}

int praxis_call_stopped(praxis_call handle) {
  const auto call = praxis::capi::Handles::all().find<CallObject>(handle);
  return call && (*call)->stop.stop_requested() ? 1 : 0;
}

praxis_status praxis_call_describe(praxis_call handle, char** out) {
  return in_call(handle, [&](CallObject& call) -> praxis::Status {
    if (auto ready = praxis::capi::ready(out); !ready) return ready;
    const praxis::ToolContext& context = *call.context;
    return praxis::capi::give(out, praxis::JsonObject{{"session", context.session.str()},
                                                      {"agent", context.agent},
                                                      {"call", context.call.str()},
                                                      {"attempt", context.attempt},
                                                      {"depth", context.depth},
                                                      {"idempotency_key", context.idempotency_key},
                                                      {"metadata", context.metadata}});
  });
}
