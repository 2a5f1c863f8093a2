// What `--json` writes, one JSON object per line: items or events, and last the envelope, on success and on
// failure. docs/json.md and share/praxis/output.schema.json describe it for programs: arguments of calls are
// objects, integers that JavaScript cannot hold are strings, and the answer of a turn is in the envelope
// once.
#pragma once

#include <string_view>

#include "praxis/core/event.hpp"
#include "praxis/core/report.hpp"
#include "praxis/json/json.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis::app {

/// The last line: how the command ended, then the members that are its own. `error`: why it failed, if that
/// is not yet among `fields["errors"]`; may be null.
Json envelope(std::string_view command, int exit_status, const JsonObject& fields,
              const Error* error = nullptr);

/// What the envelope of a run has: always the same members.
JsonObject run_fields(const AgentResult& result);
/// When there is no result; `session` is empty when there is no run either.
JsonObject run_fields(const Error& error, const SessionId& session = {});

/// An event. Those that end a turn have its answer only if no `assistant.text` has it.
JsonObject program_json(const Event& event);
JsonObject program_json(const ParkedStep& step);
/// A node of the agent tree with `cost_usd` of it and all below it, null if a price is unknown.
JsonObject program_json(const AgentNode& node);
/// A record as stored; payloads above the threshold are replaced by their digest.
JsonObject program_json(const StoredRecord& stored);
/// Arguments as a model sent them: the JSON object, or other text as a string.
Json program_arguments(std::string_view arguments);

/// The cost in US dollars; null if tokens were used whose price is unknown.
Json cost_or_null(const Usage& usage);

}  // namespace praxis::app
