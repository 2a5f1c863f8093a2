#include "app/shown_run.hpp"

#include <algorithm>
#include <utility>

#include "app/journal_walk.hpp"
#include "core/project.hpp"
#include "policy/event_texts.hpp"
#include "policy/record_texts.hpp"
#include "runtime/agent_tree_nodes.hpp"

namespace praxis::app {

std::vector<StoredRecord> shown_records(std::vector<StoredRecord> records, const redact::Redaction& shown) {
  for (StoredRecord& stored : records) redact_record(stored.record.body, shown);
  return records;
}

void redact_difference(std::optional<Divergence>& difference, const redact::Redaction& expected,
                       const redact::Redaction& found) {
  if (!difference) return;
  difference->expected = expected.json_text(std::move(difference->expected));
  difference->found = found.json_text(std::move(difference->found));
}

Result<StoredSession> shown_run(StoredSession stored, const Redactions& redactions) {
  if (!stored.state.agent) return stored;
  const redact::Redaction filters = redactions.filters_of_shown(*stored.state.agent);
  if (filters.is_off()) return stored;
  stored.records = shown_records(std::move(stored.records), filters);
  auto state = fold(stored.records);
  if (!state) return fail(state.error());
  stored.state = *std::move(state);
  return stored;
}

Result<State> show_past(Journal& journal, const SessionId& run, const Redactions& redactions,
                        const std::function<void(const Event&)>& each) {
  const auto records = read_records(journal, run);
  if (!records) return fail(records.error());
  redact::Redaction filters;
  for (const StoredRecord& stored : *records) {
    if (const AgentSpec* const agent = agent_in(stored.record.body))
      filters = redactions.filters_of_shown(*agent);
  }
  State state;
  for (const StoredRecord& stored : *records) {
    if (auto applied = apply_to(state, stored.record); !applied) return fail(std::move(applied.error()));
    for (Event& event : project(stored.record, state)) {
      redact_event(event, filters);
      each(event);
    }
  }
  return state;
}

namespace {

/// Whether a text of a node may have been cut.
bool may_be_cut(const std::string& text) {
  constexpr std::size_t kLongestCharacter = 4;
  return text.size() + kLongestCutWord + kLongestCharacter > kMaxNodeContent;
}

}  // namespace

AgentNode shown_node(AgentNode node, const redact::Redaction& shown,
                     const std::function<std::optional<State>(const SessionId&)>& state_of) {
  if (shown.is_off()) return node;
  const bool is_cut =
      may_be_cut(node.content) || std::ranges::any_of(node.waiting, may_be_cut, &WaitingMessage::text);
  const auto state = is_cut ? state_of(node.id) : std::nullopt;
  if (may_be_cut(node.content)) node.content = state ? task_of(*state) : std::string();
  node.content = cut_node_text(shown.text(std::move(node.content)));
  for (WaitingMessage& each : node.waiting) {
    if (may_be_cut(each.text)) each.text = state ? waiting_text(*state, each.id) : std::string();
    each.text = cut_node_text(shown.text(std::move(each.text)));
  }
  node.comment = shown.text(std::move(node.comment));
  shown.redact(node.metadata);
  return node;
}

Result<StoredSession> open_shown(const Workspace& workspace, std::string_view text) {
  auto stored = open_session(workspace, text, JournalUse::kLook);
  if (!stored) return stored;
  return shown_run(*std::move(stored), Redactions(workspace));
}

}  // namespace praxis::app
