// Secrets in what tools give: `[policy.redact]`, `results`. Neither the journal nor the model gets them.
#pragma once

#include "praxis/domain/agent_spec.hpp"
#include "praxis/tools/tool.hpp"
#include "redact/redaction.hpp"

namespace praxis {

/// How the results of an agent's tools are redacted: by its own rules and those of all agents above, the
/// strictest of which holds. Rules that cannot be read count as the strictest.
redact::Redaction redaction_of_results(const AgentSpec& agent);

/// Redacts text, value and error of an output. Images, files and what was written to memory stay.
void remove_secrets(Result<ToolOutput>& output, const redact::Redaction& redaction);

}  // namespace praxis
