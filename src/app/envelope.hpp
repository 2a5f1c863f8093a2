// The last line of `--json`: the result of the run, or of the attempt to start one, always with the same
// fields.
#pragma once

#include "praxis/core/report.hpp"

namespace praxis::app {

Json envelope(const AgentResult& result);
/// When there is no result; `session` is empty when there is no run either.
Json envelope(const Error& error, const SessionId& session = {});

}  // namespace praxis::app
