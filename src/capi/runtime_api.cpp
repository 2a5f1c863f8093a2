// The functions of the C interface that concern the library, runtimes and agents.
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>

#include "capi/agent_text.hpp"
#include "capi/boundary.hpp"
#include "capi/objects.hpp"
#include "capi/tool_function.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/journal/postgres_journal.hpp"
#include "praxis/json/describe.hpp"
#include "praxis/praxis.h"

namespace praxis::capi {
namespace {

constexpr std::chrono::milliseconds kGrace{5000};

/// What `praxis_runtime_open` takes.
struct RuntimeText {
  std::string journal = "memory";
  std::string model;
  std::string instructions;
  bool stream = true;
  bool suspend = false;
  bool begin_queued_turns = true;
  std::string principal;
};
PRAXIS_FIELDS(RuntimeText, journal, model, instructions, stream, suspend, begin_queued_turns, principal)

Result<std::shared_ptr<Journal>> open_journal(const std::string& name) {
  if (name == "memory") return memory_journal();
  if (is_postgres_address(name)) return postgres_journal(name);
  return sqlite_journal(name);
}

Result<std::shared_ptr<RuntimeObject>> open_runtime(const Json& json) {
  RuntimeText text;
  if (auto read = read_settings(json, "options", text); !read) return fail(std::move(read.error()));
  auto journal = open_journal(text.journal);
  if (!journal) return fail(std::move(journal.error()));
  auto object = std::make_shared<RuntimeObject>();
  object->journal = *journal;
  object->person = text.principal.empty() ? person_by_library() : Author{text.principal, Surface::kLibrary};
  RuntimeOptions options;
  options.journal = *std::move(journal);
  options.principal = text.principal.empty() ? by_library() : object->person;
  options.instructions = std::move(text.instructions);
  options.stream = text.stream;
  options.suspend_when_waiting = text.suspend;
  options.begin_queued_turns = text.begin_queued_turns;
  object->runtime = Runtime::create(std::move(options));
  object->agents.http = object->runtime->http();
  object->agents.default_model = std::move(text.model);
  if (text.journal != "memory" && !is_postgres_address(text.journal)) {
    for (const char* end : {"", "-wal", "-shm"})
      object->agents.hide.push_back(std::filesystem::absolute(text.journal).string() + end);
  }
  return object;
}

std::uint64_t add_agent(const std::shared_ptr<RuntimeObject>& runtime, Agent agent) {
  return Handles::all().add(std::make_shared<AgentObject>(std::move(agent), runtime), runtime->handle);
}

/// Stops a runtime and drops all that was made from it. When this returns, no function of the caller is
/// running.
Status close_runtime(std::uint64_t handle) {
  auto runtime = Handles::all().find<RuntimeObject>(handle);
  if (!runtime) return fail(std::move(runtime.error()));
  if (auto outside = check_outside(**runtime, "close its runtime"); !outside) return outside;
  (*runtime)->runtime->stop(kGrace);
  const auto functions = (*runtime)->functions;
  runtime->reset();
  const bool was_open = !Handles::all().remove(handle).empty();
  functions->wait(kGrace);
  return was_open ? Status{} : fail(Handles::all().kind_of(handle).error());
}

Status close_handle(std::uint64_t handle) {
  const auto kind = Handles::all().kind_of(handle);
  if (!kind) return fail(kind.error());
  if (*kind == Kind::kCall) return fail(ErrorCode::kInput, "a call is closed by returning from its function");
  if (*kind == Kind::kRuntime) return close_runtime(handle);
  if (Handles::all().remove(handle).empty()) return fail(Handles::all().kind_of(handle).error());
  return {};
}

/// Gives the agent a tool, or leaves it as it was.
Status add_tool(AgentObject& agent, Tool tool) {
  const std::lock_guard lock(agent.mutex);
  Agent changed = agent.agent;
  changed.use(std::move(tool));
  if (const Status& status = changed.description()->status; !status) return fail(status.error());
  agent.agent = std::move(changed);
  return {};
}

}  // namespace

Result<std::shared_ptr<SessionObject>> session_of(std::uint64_t handle) {
  const auto kind = Handles::all().kind_of(handle);
  if (!kind || *kind != Kind::kRun) return Handles::all().find<SessionObject>(handle);
  auto run = Handles::all().find<RunObject>(handle);
  return run ? Result<std::shared_ptr<SessionObject>>((*run)->session) : fail(std::move(run.error()));
}

}  // namespace praxis::capi

namespace capi = praxis::capi;
using praxis::fail;
using praxis::Status;

uint32_t praxis_abi_version() { return PRAXIS_ABI_VERSION; }
const char* praxis_version() { return PRAXIS_VERSION; }
const char* praxis_last_error() { return capi::last_error(); }
void praxis_free(char* text) { std::free(text); }  // NOLINT: made by malloc, for C

praxis_status praxis_close(praxis_handle handle) {
  return capi::guarded([&] { return capi::close_handle(handle); });
}

praxis_status praxis_runtime_open(const char* options, praxis_runtime* out) {
  return capi::guarded([&]() -> Status {
    if (auto ready = capi::ready(out); !ready) return ready;
    const auto json = capi::json_of(options, "options");
    if (!json) return fail(json.error());
    const auto runtime = capi::open_runtime(*json);
    if (!runtime) return fail(runtime.error());
    const std::uint64_t handle = capi::Handles::all().add(*runtime);
    (*runtime)->handle = handle;
    *out = handle;
    return {};
  });
}

praxis_status praxis_runtime_stop(praxis_runtime runtime, int64_t grace_ms) {
  return capi::guarded([&]() -> Status {
    const auto object = capi::Handles::all().find<capi::RuntimeObject>(runtime);
    if (!object) return fail(object.error());
    if (auto outside = capi::check_outside(**object, "stop its runtime"); !outside) return outside;
    if (grace_ms < 0) return fail(praxis::ErrorCode::kInput, "grace_ms must not be negative");
    (*object)->runtime->stop(capi::Deadline(grace_ms).left());
    return {};
  });
}

praxis_status praxis_runtime_health(praxis_runtime runtime, char** out) {
  return capi::guarded([&]() -> Status {
    if (auto ready = capi::ready(out); !ready) return ready;
    const auto object = capi::Handles::all().find<capi::RuntimeObject>(runtime);
    if (!object) return fail(object.error());
    const praxis::RuntimeHealth health = (*object)->runtime->health();
    praxis::JsonObject json{{"ok", health.ok()},
                            {"accepts_work", health.accepts_work},
                            {"sessions", health.sessions},
                            {"running", health.running},
                            {"waiting", health.waiting}};
    if (!health.journal) json["journal_error"] = praxis::to_json(health.journal.error());
    return capi::give(out, json);
  });
}

praxis_status praxis_agent_create(praxis_runtime runtime, const char* description, praxis_agent* out) {
  return capi::guarded([&]() -> Status {
    if (auto ready = capi::ready(out); !ready) return ready;
    const auto object = capi::Handles::all().find<capi::RuntimeObject>(runtime);
    if (!object) return fail(object.error());
    const auto json = capi::json_of(description, "description");
    if (!json) return fail(json.error());
    auto agent = capi::agent_from_json(*json, (*object)->agents);
    if (!agent) return fail(std::move(agent.error()));
    *out = capi::add_agent(*object, *std::move(agent));
    return {};
  });
}

praxis_status praxis_agent_open(praxis_runtime runtime, const char* path, praxis_agent* out) {
  return capi::guarded([&]() -> Status {
    if (auto ready = capi::ready(out); !ready) return ready;
    const auto object = capi::Handles::all().find<capi::RuntimeObject>(runtime);
    if (!object) return fail(object.error());
    const auto file = capi::text_of(path, "path");
    if (!file) return fail(file.error());
    auto agent = praxis::load_agent_file(*file, (*object)->agents);
    if (!agent) return fail(std::move(agent.error()));
    *out = capi::add_agent(*object, *std::move(agent));
    return {};
  });
}

praxis_status praxis_agent_add_tool(praxis_agent agent, const char* definition, praxis_tool_function function,
                                    void* user, praxis_release_function release) {
  return capi::guarded([&]() -> Status {
    auto own = std::make_shared<capi::ToolFunction>(function, user, release);
    const auto object = capi::Handles::all().find<capi::AgentObject>(agent);
    if (!object) return fail(object.error());
    own->count_in((*object)->runtime->functions);
    const auto json = capi::json_of(definition, "definition");
    if (!json) return fail(json.error());
    auto tool = capi::tool_of(*json, std::move(own), (*object)->runtime->runtime);
    if (!tool) return fail(std::move(tool.error()));
    return capi::add_tool(**object, *std::move(tool));
  });
}

praxis_status praxis_agent_add_agent(praxis_agent agent, praxis_agent other, const char* name,
                                     const char* description) {
  return capi::guarded([&]() -> Status {
    const auto object = capi::Handles::all().find<capi::AgentObject>(agent);
    if (!object) return fail(object.error());
    const auto below = capi::Handles::all().find<capi::AgentObject>(other);
    if (!below) return fail(below.error());
    auto own_name = capi::text_of(name, "name");
    if (!own_name) return fail(std::move(own_name.error()));
    auto text = capi::text_of(description, "description");
    if (!text) return fail(std::move(text.error()));
    return capi::add_tool(**object, (*below)->get().as_tool(*std::move(own_name), *std::move(text)));
  });
}

praxis_status praxis_agent_describe(praxis_agent agent, char** out) {
  return capi::guarded([&]() -> Status {
    if (auto ready = capi::ready(out); !ready) return ready;
    const auto object = capi::Handles::all().find<capi::AgentObject>(agent);
    if (!object) return fail(object.error());
    return capi::give(out, praxis::to_json((*object)->get().spec()));
  });
}
