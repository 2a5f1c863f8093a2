// The functions of the C interface that concern sessions and runs.
#include <mutex>
#include <string>
#include <utility>

#include "app/envelope.hpp"
#include "capi/boundary.hpp"
#include "capi/decisions.hpp"
#include "capi/objects.hpp"
#include "praxis/json/describe.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/praxis.h"

namespace praxis::capi {
namespace {

/// What `praxis_agent_run` and the functions like it take.
struct RunText {
  Json schema;
  Json messages;
  Json metadata;
};
PRAXIS_FIELDS(RunText, schema, messages, metadata)

Result<RunText> run_text(const char* options) {
  auto json = json_of(options, "options");
  if (!json) return fail(std::move(json.error()));
  RunText text;
  if (auto read = read_settings(*json, "options", text); !read) return fail(std::move(read.error()));
  return text;
}

Result<std::shared_ptr<SessionObject>> new_session(const AgentObject& agent, const RunText& text) {
  const Agent description = agent.get();
  Runtime& runtime = *agent.runtime->runtime;
  if (text.messages.is_null()) {
    auto session = runtime.create_session(description, text.metadata);
    if (!session) return fail(std::move(session.error()));
    return std::make_shared<SessionObject>(*std::move(session), agent.runtime);
  }
  JsonObject json{{"id", ""}, {"messages", text.messages}};
  if (!text.metadata.is_null()) json["metadata"] = text.metadata;
  auto start = conversation_from_json(json);
  if (!start) return fail(std::move(start.error()));
  auto session = runtime.create_session(description, *std::move(start));
  if (!session) return fail(std::move(session.error()));
  return std::make_shared<SessionObject>(*std::move(session), agent.runtime);
}

std::uint64_t add_session(const std::shared_ptr<SessionObject>& session) {
  return Handles::all().add(session, session->runtime->handle);
}

std::uint64_t add_run(Run run, const std::shared_ptr<SessionObject>& session) {
  return Handles::all().add(std::make_shared<RunObject>(std::move(run), session), session->runtime->handle);
}

/// The next event as JSON, or why none came.
Result<praxis_status> next_event(Run& run, const Deadline& deadline, char** out) {
  for (;;) {
    const auto left = deadline.left();
    auto event = run.next(left);
    if (!event && run.wait(std::chrono::milliseconds(0))) {
      event = run.next(std::chrono::milliseconds(0));  // one that came while the time was over
      if (!event) return PRAXIS_END;
    }
    if (event) {
      if (auto given = give(out, Json(app::program_json(*event))); !given) return fail(given.error());
      return PRAXIS_OK;
    }
    if (left.count() == 0) return PRAXIS_TIMEOUT;
  }
}

Json describe(const Session& session) {
  const auto [used, window] = session.context_usage();
  return JsonObject{{"id", session.session_id().str()},
                    {"status", to_string(session.status())},
                    {"agent", session.last_result().agent},
                    {"comment", session.comment()},
                    {"queued", session.queued()},
                    {"usage", to_json(session.token_usage())},
                    {"context", JsonObject{{"used", used}, {"window", window}}}};
}

/// The run of a handle. Error `kInput`: a tool of that run would wait for it.
auto run_to_wait_for(praxis_run run, std::int64_t timeout_ms) {
  auto object = Handles::all().find<RunObject>(run);
  if (!object || timeout_ms == 0) return object;
  const SessionObject& session = *(*object)->session;
  auto other = check_not_waiting_for_itself(*session.runtime, session.session.session_id());
  if (!other) object = fail(std::move(other.error()));
  return object;
}

}  // namespace
}  // namespace praxis::capi

namespace capi = praxis::capi;
using praxis::fail;
using praxis::Result;
using praxis::Status;

praxis_status praxis_agent_run(praxis_agent agent, const char* prompt, const char* options, praxis_run* out) {
  return capi::guarded([&]() -> Status {
    if (auto ready = capi::ready(out); !ready) return ready;
    const auto object = capi::Handles::all().find<capi::AgentObject>(agent);
    if (!object) return fail(object.error());
    auto text = capi::text_of(prompt, "prompt");
    if (!text) return fail(std::move(text.error()));
    auto wanted = capi::run_text(options);
    if (!wanted) return fail(std::move(wanted.error()));
    const auto session = capi::new_session(**object, *wanted);
    if (!session) return fail(session.error());
    *out = capi::add_run(
        (*session)->session.send(praxis::text_message(praxis::Role::kUser, *std::move(text)), wanted->schema),
        *session);
    return {};
  });
}

praxis_status praxis_session_create(praxis_agent agent, const char* options, praxis_session* out) {
  return capi::guarded([&]() -> Status {
    if (auto ready = capi::ready(out); !ready) return ready;
    const auto object = capi::Handles::all().find<capi::AgentObject>(agent);
    if (!object) return fail(object.error());
    const auto wanted = capi::run_text(options);
    if (!wanted) return fail(wanted.error());
    if (!wanted->schema.is_null())
      return fail(praxis::ErrorCode::kInput, "\"options.schema\" belongs to a turn: give it to the message");
    const auto session = capi::new_session(**object, *wanted);
    if (!session) return fail(session.error());
    *out = capi::add_session(*session);
    return {};
  });
}

praxis_status praxis_session_open(praxis_agent agent, const char* id, int force, praxis_session* out) {
  return capi::guarded([&]() -> Status {
    if (auto ready = capi::ready(out); !ready) return ready;
    const auto object = capi::Handles::all().find<capi::AgentObject>(agent);
    if (!object) return fail(object.error());
    const auto text = capi::text_of(id, "id");
    if (!text) return fail(text.error());
    const auto& in = (*object)->runtime;
    const auto found = praxis::find_session(*in->journal, *text);
    if (!found) return fail(found.error());
    auto session = in->runtime->open_session(*found, (*object)->get(), force != 0);
    if (!session) return fail(std::move(session.error()));
    *out = capi::add_session(std::make_shared<capi::SessionObject>(*std::move(session), in));
    return {};
  });
}

praxis_status praxis_session_send(praxis_session session, const char* message, const char* options,
                                  praxis_run* out) {
  return capi::guarded([&]() -> Status {
    if (auto ready = capi::ready(out); !ready) return ready;
    const auto object = capi::session_of(session);
    if (!object) return fail(object.error());
    auto text = capi::text_of(message, "message");
    if (!text) return fail(std::move(text.error()));
    auto wanted = capi::run_text(options);
    if (!wanted) return fail(std::move(wanted.error()));
    if (!wanted->messages.is_null() || !wanted->metadata.is_null())
      return fail(praxis::ErrorCode::kInput, "only \"options.schema\" belongs to a message of a session");
    auto said = praxis::text_message(praxis::Role::kUser, *std::move(text));
    *out = capi::add_run((*object)->session.send(std::move(said), std::move(wanted->schema)), *object);
    return {};
  });
}

praxis_status praxis_session_resume(praxis_session session, const char* decisions, praxis_run* out) {
  return capi::guarded([&]() -> Status {
    if (auto ready = capi::ready(out); !ready) return ready;
    const auto object = capi::session_of(session);
    if (!object) return fail(object.error());
    const auto json = capi::json_of(decisions, "decisions");
    if (!json) return fail(json.error());
    const auto approvals = capi::approvals_of(*json);
    if (!approvals) return fail(approvals.error());
    *out = capi::add_run((*object)->session.resume(*approvals, (*object)->runtime->person), *object);
    return {};
  });
}

praxis_status praxis_session_describe(praxis_session session, char** out) {
  return capi::guarded([&]() -> Status {
    if (auto ready = capi::ready(out); !ready) return ready;
    const auto object = capi::session_of(session);
    if (!object) return fail(object.error());
    return capi::give(out, capi::describe((*object)->session));
  });
}

praxis_status praxis_session_messages(praxis_session session, char** out) {
  return capi::guarded([&]() -> Status {
    if (auto ready = capi::ready(out); !ready) return ready;
    const auto object = capi::session_of(session);
    if (!object) return fail(object.error());
    const auto conversation = (*object)->session.transcript();
    if (!conversation) return fail(conversation.error());
    return capi::give(out, praxis::to_json(*conversation));
  });
}

praxis_status praxis_run_next(praxis_run run, int64_t timeout_ms, char** out) {
  return capi::guarded([&]() -> Result<praxis_status> {
    if (auto ready = capi::ready(out); !ready) return fail(ready.error());
    const auto object = capi::run_to_wait_for(run, timeout_ms);
    if (!object) return fail(object.error());
    return capi::next_event((*object)->run, capi::Deadline(timeout_ms), out);
  });
}

praxis_status praxis_run_result(praxis_run run, int64_t timeout_ms, char** out) {
  return capi::guarded([&]() -> Result<praxis_status> {
    if (auto ready = capi::ready(out); !ready) return fail(ready.error());
    const auto object = capi::run_to_wait_for(run, timeout_ms);
    if (!object) return fail(object.error());
    const capi::Deadline deadline(timeout_ms);
    for (auto left = deadline.left(); !(*object)->run.wait(left); left = deadline.left()) {
      if (left.count() == 0) return PRAXIS_TIMEOUT;
    }
    const auto report = (*object)->run.report();
    if (!report) return fail(report.error());
    if (auto given = capi::give(out, praxis::Json(praxis::app::run_fields(*report))); !given)
      return fail(given.error());
    return PRAXIS_OK;
  });
}

praxis_status praxis_decide(praxis_session session, const char* step, const char* decision) {
  return capi::guarded([&]() -> Status {
    const auto object = capi::session_of(session);
    if (!object) return fail(object.error());
    auto park = capi::text_of(step, "step");
    if (!park) return fail(std::move(park.error()));
    const auto json = capi::json_of(decision, "decision");
    if (!json) return fail(json.error());
    auto approval = capi::approval_of(*json);
    if (!approval) return fail(std::move(approval.error()));
    return (*object)->session.decide(praxis::ParkId{*std::move(park)}, *std::move(approval),
                                     (*object)->runtime->person);
  });
}
