// What people and clients are shown of a run: its log as the content filters at `shown` leave it. The log
// itself is for what the program does with a run: resume, replay, fork, and export in the native form.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "app/without_secrets.hpp"
#include "app/workspace.hpp"
#include "praxis/core/event.hpp"
#include "praxis/core/state.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis::app {

/// Records as the filters `shown` of their run (`Redactions::filters_of_shown`) leave them.
std::vector<StoredRecord> shown_records(std::vector<StoredRecord> records, const redact::Redaction& shown);
/// Where two records differ, as these filters leave what each one says.
void redact_difference(std::optional<Divergence>& difference, const redact::Redaction& expected,
                       const redact::Redaction& found);

/// A run as it is shown, by the filters of its agent now and of the configuration: the records, and the state
/// that follows from these. Error `kJournal`.
Result<StoredSession> shown_run(StoredSession stored, const Redactions& redactions);

/// Calls `each` with the events of a run so far, as they are shown, and returns its state. Error `kJournal`,
/// also after some events.
Result<State> show_past(Journal& journal, const SessionId& run, const Redactions& redactions,
                        const std::function<void(const Event&)>& each);

/// A node of an agent tree as the filters `shown` of its session leave it. The steps that wait stay whole:
/// who decides one has to see exactly what would run. `state_of` is asked if a text of the node was cut,
/// because a filter does not find the half of a match; without a state, such a text is left out.
AgentNode shown_node(AgentNode node, const redact::Redaction& shown,
                     const std::function<std::optional<State>(const SessionId&)>& state_of);

/// `open_session` to look at a run, as it is shown.
Result<StoredSession> open_shown(const Workspace& workspace, std::string_view text);

}  // namespace praxis::app
