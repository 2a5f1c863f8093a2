// Reads what `app/envelope.hpp` writes, as a server sends it: for surfaces that show runs which another
// process works on. Members that are missing or of another type keep their defaults, because a server may be
// older or newer than its client.
#pragma once

#include "praxis/core/event.hpp"
#include "praxis/core/report.hpp"
#include "praxis/json/json.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis::app {

/// The event of `program_json(const Event&)`, without what no terminal shows: the message of an answer, which
/// `assistant.text` has, options, and of the description of the agent all but its id and model. An event of
/// an unknown kind is a `Custom` one.
Event event_from(const Json& json);
/// The result of `run_fields`, without model calls, provenance and figures that only programs read. `usage`
/// includes the sub-agents.
AgentResult result_from(const Json& json);
/// The step of `program_json(const ParkedStep&)`.
ParkedStep parked_step_from(const Json& json);
/// The node of `program_json(const AgentNode&)`.
AgentNode node_from(const Json& json);

}  // namespace praxis::app
