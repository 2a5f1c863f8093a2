// The functions of the C interface that concern the runs of a journal, and commands.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/envelope.hpp"
#include "app/run_list.hpp"
#include "app/run_trees.hpp"
#include "app/workspace.hpp"
#include "capi/boundary.hpp"
#include "capi/objects.hpp"
#include "praxis/json/describe.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/praxis.h"

namespace praxis::capi {
namespace {

struct FilterText {
  std::string text, agent, model, status, tag;
};
PRAXIS_FIELDS(FilterText, text, agent, model, status, tag)

Result<JsonArray> list_runs(const RuntimeObject& runtime, const Json& filter, std::uint32_t limit) {
  FilterText text;
  if (auto read = read_settings(filter, "filter", text); !read) return fail(std::move(read.error()));
  if (!text.status.empty()) {
    if (auto known = app::parse_status(text.status); !known) return fail(std::move(known.error()));
  }
  app::RunFilter wanted{};
  wanted.text = text.text;
  wanted.agent = text.agent;
  wanted.model = text.model;
  wanted.status = text.status;
  wanted.tag = text.tag;
  JsonArray runs;
  const auto read = app::for_each_run(runtime.journal, wanted, app::Sessions::kRoots,
                                      runtime.runtime->environment().now(), [&](const app::ListedRun& run) {
                                        runs.push_back(app::program_json(run));
                                        return limit == 0 || runs.size() < limit;
                                      });
  if (!read) return fail(read.error());
  return runs;
}

/// The session that the caller names; one that is not in the journal yet has its whole id.
Result<SessionId> session_named(const RuntimeObject& runtime, const char* id) {
  auto text = text_of(id, "id");
  if (!text) return fail(std::move(text.error()));
  if (runtime.runtime->agent_state(SessionId{*text})) return SessionId{*std::move(text)};
  return find_session(*runtime.journal, *text);
}

Result<JsonArray> tree_of(const RuntimeObject& runtime, const char* id) {
  std::optional<app::RunTrees> trees;
  if (id == nullptr) {
    trees.emplace(runtime.journal, app::RunTrees::Roots::kBusy);
  } else {
    const auto found = session_named(runtime, id);
    if (!found) return fail(found.error());
    const auto root = app::root_of(*runtime.journal, *found);
    if (!root) return fail(root.error());
    trees.emplace(runtime.journal, *root);
  }
  if (auto read = trees->refresh(); !read) return fail(std::move(read.error()));
  JsonArray nodes;
  for (const AgentNode& node : trees->nodes()) nodes.push_back(app::program_json(node));
  return nodes;
}

Json replay_json(const ReplayReport& report) {
  Json divergence = nullptr;
  if (report.divergence) {
    divergence = JsonObject{{"seq", report.divergence->seq},
                            {"field", report.divergence->field},
                            {"expected", report.divergence->expected},
                            {"found", report.divergence->found}};
  }
  return JsonObject{{"identical", !report.divergence.has_value()},
                    {"records", report.records},
                    {"derived", report.derived},
                    {"divergence", std::move(divergence)}};
}

/// Runs a function that reads or writes a run of the journal and gives its result as JSON.
template <class Act>
praxis_status about(praxis_runtime runtime, char** out, Act act) noexcept {
  return guarded([&]() -> Status {
    if (auto made = ready(out); !made) return made;
    const auto object = Handles::all().find<RuntimeObject>(runtime);
    if (!object) return fail(object.error());
    const Result<Json> json = act(**object);
    if (!json) return fail(json.error());
    return give(out, *json);
  });
}

/// Where a command goes.
struct Addressed {
  std::shared_ptr<RuntimeObject> runtime;
  SessionId session;
};

Result<Addressed> address(std::uint64_t handle, const char* target) {
  Addressed to;
  const auto kind = Handles::all().kind_of(handle);
  if (kind && *kind == Kind::kRuntime) {
    auto runtime = Handles::all().find<RuntimeObject>(handle);
    if (!runtime) return fail(std::move(runtime.error()));
    to.runtime = *std::move(runtime);
  } else {
    const auto session = session_of(handle);
    if (!session) return fail(session.error());
    to.runtime = (*session)->runtime;
    to.session = (*session)->session.session_id();
  }
  if (target == nullptr) {
    if (to.session.empty()) return fail(ErrorCode::kInput, "a command through a runtime needs a target");
    return to;
  }
  auto named = session_named(*to.runtime, target);
  if (!named) return fail(std::move(named.error()));
  to.session = *std::move(named);
  return to;
}

}  // namespace
}  // namespace praxis::capi

namespace capi = praxis::capi;
using praxis::fail;
using praxis::Json;
using praxis::Result;
using praxis::Status;

praxis_status praxis_command(praxis_handle handle, const char* target, const char* verb, const char* text) {
  return capi::guarded([&]() -> Status {
    const auto to = capi::address(handle, target);
    if (!to) return fail(to.error());
    const auto name = capi::text_of(verb, "verb");
    if (!name) return fail(name.error());
    const auto known = praxis::command_verb_from(*name);
    if (!known) return fail(praxis::ErrorCode::kInput, '"' + *name + "\" is not a command");
    std::string said;
    if (text != nullptr) {
      auto copy = capi::text_of(text, "text");
      if (!copy) return fail(std::move(copy.error()));
      said = *std::move(copy);
    }
    return to->runtime->runtime->command(
        praxis::Commands{{*known, to->session, std::move(said), to->runtime->person}});
  });
}

praxis_status praxis_runs(praxis_runtime runtime, const char* filter, uint32_t limit, char** out) {
  return capi::about(runtime, out, [&](const capi::RuntimeObject& in) -> Result<Json> {
    const auto json = capi::json_of(filter, "filter");
    if (!json) return fail(json.error());
    return capi::list_runs(in, *json, limit);
  });
}

praxis_status praxis_tree(praxis_runtime runtime, const char* id, char** out) {
  return capi::about(runtime, out,
                     [&](const capi::RuntimeObject& in) -> Result<Json> { return capi::tree_of(in, id); });
}

praxis_status praxis_state(praxis_runtime runtime, const char* id, char** out) {
  return capi::about(runtime, out, [&](const capi::RuntimeObject& in) -> Result<Json> {
    const auto session = capi::session_named(in, id);
    if (!session) return fail(session.error());
    const auto state = in.runtime->agent_state(*session);
    if (!state) return fail(state.error());
    return praxis::to_json(*state);
  });
}

praxis_status praxis_fork(praxis_runtime runtime, const char* id, uint64_t seq, char** out) {
  return capi::about(runtime, out, [&](const capi::RuntimeObject& in) -> Result<Json> {
    const auto session = capi::session_named(in, id);
    if (!session) return fail(session.error());
    const auto fork = praxis::fork_session(*in.journal, in.runtime->environment(), *session, seq);
    if (!fork) return fail(fork.error());
    return Json(fork->str());
  });
}

praxis_status praxis_replay(praxis_runtime runtime, const char* id, char** out) {
  return capi::about(runtime, out, [&](const capi::RuntimeObject& in) -> Result<Json> {
    const auto session = capi::session_named(in, id);
    if (!session) return fail(session.error());
    const auto records = praxis::read_records(*in.journal, *session);
    if (!records) return fail(records.error());
    const auto report = praxis::replay(*records);
    if (!report) return fail(report.error());
    return capi::replay_json(*report);
  });
}
