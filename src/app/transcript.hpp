// The conversation of a run, as a user reads it: messages, answers, tool calls with their results,
// sub-agents and decisions, in the order of the records.
#pragma once

#include <string>
#include <vector>

#include "praxis/core/state.hpp"
#include "praxis/json/json.hpp"
#include "praxis/logs/logs.hpp"

namespace praxis::app {

class Redactions;

/// `{schema_version, run_id, agent, model, status, usage, cost_usd, items: [...]}`. Each item has a `type`
/// and a `time`:
/// - `turn`: `turn`; in the conversation of a team `agent`: the member that answers
/// - `message`: `role`, `source`, `content`
/// - `answer`: `step`, `content`, or `error`
/// - `result`: `call`, `tool`, `outcome`, `duration_ms`, `text`, `media`, or `error`
/// - `agent`: `call`, `agent`, `run_id`; then `agent_ended`: `run_id`, `termination`, `usage`
/// - `waits`: `pending`, `kind`, `tool`, `prompt`; then `decision`: `pending`, `call`, `verb`, `text`, `by`
/// - `inner_call`: `call`, `tool`, `arguments`, `within`: the handler of another call made it
/// - `command`: `verb`, `text`, `by`
/// - `end`: `turn`, `termination`, `text`, `error`
///
/// `content` has entries of the types `text`, `reasoning`, `call` (`call`, `tool`, `arguments`), `image`,
/// `file` and `refusal`; images and files are named, not included.
Json transcript(const std::vector<StoredRecord>& records, const State& state);

/// Error `kPolicy`: a content filter at `export` would change the run, so its exact records are not exported.
Status check_exact_export(const std::vector<StoredRecord>& records, const State& state,
                          const Redactions& redactions);

/// The same without what exports of the run leave out.
Json transcript_for_export(const std::vector<StoredRecord>& records, const State& state,
                           const Redactions& redactions);

/// A transcript as Markdown.
std::string transcript_markdown(const Json& transcript);
/// The same as one HTML file that needs nothing else: no script, no remote resource, light or dark as the
/// reader's system. It is well-formed XML too, for any text of the run.
std::string transcript_html(const Json& transcript);

}  // namespace praxis::app
