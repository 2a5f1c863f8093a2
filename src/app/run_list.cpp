#include "app/run_list.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "app/envelope.hpp"
#include "app/plain_text.hpp"
#include "app/run_nodes.hpp"
#include "app/transcript.hpp"
#include "base/ascii.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/core/state.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis::app {
namespace {

constexpr std::string_view kDamaged = "corrupt";  // the status that the journal gives a log without its end

bool contains(std::string_view text, const std::string& lower_part) {
  return lower_case(text).find(lower_part) != std::string::npos;
}

/// Whether status and cost fit.
bool fits_tree(const ListedRun& run, const RunFilter& filter) {
  const MicroUsd cost = run.usage.cost;
  return (filter.status.empty() || run.row.status == filter.status) &&
         (!filter.min_cost || cost.value >= filter.min_cost->value) &&
         (!filter.max_cost || cost.value <= filter.max_cost->value);
}

bool row_has_text(const SessionRow& row, const std::string& text) {
  const auto has = [&](const std::string& field) { return contains(field, text); };
  return has(row.name) || has(row.title) || has(row.agent) || has(row.model) || has(row.id.str()) ||
         std::ranges::any_of(row.tags, has);
}

/// The wall time of all turns; a turn in progress counts until `end`.
Millis duration_of(const std::vector<StoredRecord>& records, UnixMillis end) {
  Millis sum{0};
  std::optional<UnixMillis> begun;
  for (const StoredRecord& stored : records) {
    if (std::holds_alternative<records::TurnStarted>(stored.record.body)) begun = stored.record.time;
    if (!std::holds_alternative<records::TurnSettled>(stored.record.body) || !begun) continue;
    sum += stored.record.time - *begun;
    begun.reset();
  }
  return begun ? sum + (end - *begun) : sum;
}

/// Adds what the tree of the run says.
void add_nodes(const std::vector<AgentNode>& nodes, ListedRun& run) {
  if (nodes.empty()) return;
  run.usage = nodes.front().subtree;
  run.sessions = nodes.size();
  run.held = run.row.held || std::ranges::any_of(nodes, &AgentNode::held);
  if (run.row.status == to_string(SessionStatus::kRunning)) run.row.status = to_string(nodes.front().status);
}

/// Adds what the logs of the run and of its sub-agents say.
Status look_below(const std::shared_ptr<Journal>& journal, ListedRun& run) {
  JournalTree tree(journal, {.root = run.row.id});
  if (auto read = tree.refresh(); !read) return read;
  add_nodes(tree.nodes(), run);
  return {};
}

/// Reads the run itself; whether it fits the filter.
bool reads_and_fits(Journal& journal, const RunFilter& filter, UnixMillis now, ListedRun& run) {
  const bool needs_text = !filter.text.empty() && !row_has_text(run.row, lower_case(filter.text));
  const auto records = read_records(journal, run.row.id);
  if (!records) return !needs_text;  // `show` says what is wrong with it
  const bool goes_on = run.held && run.row.status == to_string(SessionStatus::kRunning);
  run.duration = duration_of(*records, goes_on ? now : run.row.updated);
  if (!needs_text) return true;
  const auto state = fold(*records);
  return state && contains(transcript_markdown(transcript(*records, *state)), lower_case(filter.text));
}

}  // namespace

bool RunFilter::is_empty() const {
  return text.empty() && agent.empty() && model.empty() && status.empty() && tag.empty() && !from && !until &&
         !min_cost && !max_cost;
}

bool may_fit(const SessionRow& row, const RunFilter& filter) {
  return (filter.agent.empty() || lower_case(row.agent) == lower_case(filter.agent)) &&
         (filter.model.empty() || contains(row.model, lower_case(filter.model))) &&
         (filter.tag.empty() || std::ranges::count(row.tags, filter.tag) > 0) &&
         (!filter.from || row.updated >= *filter.from) && (!filter.until || row.updated <= *filter.until);
}

bool fits_listed(const ListedRun& run, const RunFilter& filter) {
  return may_fit(run.row, filter) && fits_tree(run, filter) &&
         (filter.text.empty() || row_has_text(run.row, lower_case(filter.text)));
}

Result<std::string> parse_status(std::string_view text) {
  static const std::array<std::string, 9> kNames{"idle",      "running",     "awaiting_user",
                                                 "completed", "error",       "cancelled",
                                                 "deleted",   "interrupted", "corrupt"};
  if (std::ranges::count(kNames, text) > 0) return std::string(text);
  const auto nearest = closest(text, kNames);
  std::string all;
  for (const std::string& name : kNames) all += (all.empty() ? "" : ", ") + name;
  return fail(ErrorCode::kInput, in_quotes(text) + " is not a status; " +
                                     (nearest ? "did you mean \"" + *nearest + "\"?" : "there are " + all));
}

JsonObject program_json(const ListedRun& run) {
  const SessionRow& row = run.row;
  JsonArray tags;
  for (const std::string& tag : row.tags) tags.emplace_back(tag);
  return JsonObject{{"id", row.id.str()},
                    {"name", row.name.empty() ? Json(nullptr) : Json(row.name)},
                    {"tags", std::move(tags)},
                    {"created_at", to_iso8601(row.created)},
                    {"updated_at", to_iso8601(row.updated)},
                    {"agent", row.agent},
                    {"model", row.model},
                    {"status", row.status},
                    {"held", run.held},
                    {"title", row.title},
                    {"records", row.entries},
                    {"tokens", run.usage.total()},
                    {"cost_usd", cost_or_null(run.usage)}};
}

Result<ListedRun> listed_run(const std::shared_ptr<Journal>& journal, const SessionId& id) {
  auto row = journal->session(id);
  if (!row) return fail(row.error());
  ListedRun run{*std::move(row)};
  if (auto looked = look_below(journal, run); !looked) return fail(looked.error());
  return run;
}

ListedRun listed_run(SessionRow row, const std::vector<AgentNode>& nodes) {
  ListedRun run{std::move(row)};
  add_nodes(nodes, run);
  return run;
}

Status for_each_run(const std::shared_ptr<Journal>& journal, const RunFilter& filter, Sessions which,
                    UnixMillis now, const std::function<bool(const ListedRun&)>& each) {
  auto rows = journal->sessions();
  if (!rows) return fail(rows.error());
  for (SessionRow& row : *rows) {
    if ((which == Sessions::kRoots && !row.parent.empty()) || !may_fit(row, filter)) continue;
    ListedRun run{std::move(row)};
    if (auto looked = look_below(journal, run); !looked) {
      if (looked.error().kind() == ErrorKind::kNotFound) continue;  // removed meanwhile
      return looked;
    }
    if (!fits_tree(run, filter)) continue;
    const bool is_readable = run.row.status != kDamaged;
    if (!is_readable && !filter.text.empty() && !row_has_text(run.row, lower_case(filter.text))) continue;
    if (is_readable && !reads_and_fits(*journal, filter, now, run)) continue;
    if (!each(run)) break;
  }
  return {};
}

}  // namespace praxis::app
