// Decisions on parked steps, in the form in which programs write them.
#pragma once

#include "praxis/domain/approval.hpp"
#include "praxis/json/json.hpp"

namespace praxis::capi {

/// `{"decision": "allow", "deny", "edit" or "answer", "text"?, "arguments"?}`. Error `kInput`.
Result<Approval> approval_of(const Json& json);
/// `{STEP: DECISION, ...}`, or null for none. Error `kInput` names the step.
Result<Approvals> approvals_of(const Json& json);

}  // namespace praxis::capi
