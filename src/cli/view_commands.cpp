// `runs`, `show` and `logs`: show the content of the journal.
#include <fmt/format.h>

#include "app/plain_text.hpp"
#include "app/values.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"
#include "cli/record_text.hpp"
#include "core/project.hpp"
#include "praxis/core/event.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis::cli {
namespace {

Json row_json(const SessionRow& row) {
  return JsonObject{{"id", row.id.str()},
                    {"created_at", to_iso8601(row.created)},
                    {"updated_at", to_iso8601(row.updated)},
                    {"agent", row.agent},
                    {"model", row.model},
                    {"status", row.status},
                    {"title", row.title},
                    {"records", row.entries},
                    {"parent", row.parent.empty() ? Json(nullptr) : Json(row.parent.str())}};
}

std::string row_text(const SessionRow& row) {
  const std::string whose = row.parent.empty() ? "" : fmt::format("(for {}) ", row.parent.str());
  return fmt::format("{}  {}  {:13}  {:24}  {}{}", row.id.str(), to_iso8601(row.created), row.status,
                     app::one_line(row.model, 24), whose, app::one_line(row.title, 60));
}

/// Marks the row of a run as awaiting a human if all its running sub-agents do.
Status look_below(const std::shared_ptr<Journal>& journal, SessionRow& row) {
  if (row.status != to_string(SessionStatus::kRunning)) return {};
  JournalTree tree(journal, {.root = row.id});
  if (auto read = tree.refresh(); !read) return read;
  if (const auto nodes = tree.nodes(); !nodes.empty()) row.status = to_string(nodes.front().status);
  return {};
}

/// The record as stored; payloads above the threshold are replaced by their digest.
Json record_json(const StoredRecord& stored) {
  std::vector<RecordBlob> blobs;
  const auto body = parse_json(encode_record(stored.record.body, blobs));
  return JsonObject{{"seq", stored.seq},
                    {"time", to_iso8601(stored.record.time)},
                    {"kind", kind_name(stored.record.body)},
                    {"body", body ? *body : Json(nullptr)}};
}

std::string record_line(const StoredRecord& stored) {
  return fmt::format("{:5}  {}  {:16}  {}", stored.seq, to_iso8601(stored.record.time),
                     kind_name(stored.record.body), record_text(stored.record.body));
}

std::string heading(const State& state) {
  return fmt::format("run     {}\nagent   {}\nmodel   {}\nstatus  {}\nusage   {} tokens, {}\n",
                     state.id.str(), app::harmless(state.agent->id), app::harmless(state.agent->model),
                     to_string(state.status()), state.usage.total(), app::show_usd(state.usage.cost));
}

/// The event's own fields, without the common ones.
std::string event_line(const Event& event) {
  JsonObject own = to_json(event).get_object();
  for (const char* common : {"event", "session", "depth", "parent", "seq", "turn", "step", "time"})
    own.stable_erase(common);
  const std::string payload = own.empty() ? "" : to_json_text(own);
  return fmt::format("{}  {:4} {:>3}  {:19}  {}", to_iso8601(event.time), event.turn.str(), event.step,
                     event_name(event.body), app::one_line(payload, 160));
}

}  // namespace

Result<ExitStatus> execute(const RunsOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  auto journal = app::open_journal(*workspace, app::JournalUse::kLook);
  if (!journal && journal.error().kind() == ErrorKind::kNotFound) {
    console.err.line("no runs yet in " + workspace->journal);
    return ExitStatus::kFinished;
  }
  if (!journal) return fail(journal.error());
  auto rows = (*journal)->sessions(options.all ? options.count : 0);
  if (!rows) return fail(rows.error());
  if (!options.all) {
    std::erase_if(*rows, [](const SessionRow& row) { return !row.parent.empty(); });
    if (options.count != 0 && rows->size() > options.count) rows->resize(options.count);
  }
  for (SessionRow& row : *rows) {
    if (auto looked = look_below(*journal, row); !looked) return fail(looked.error());
    if (options.json) {
      console.json(row_json(row));
    } else {
      console.out.line(row_text(row));
    }
  }
  return ExitStatus::kFinished;
}

Result<ExitStatus> execute(const ShowOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto stored = app::open_session(*workspace, options.id, app::JournalUse::kLook);
  if (!stored) return fail(stored.error());
  if (!options.json) console.out.line(heading(stored->state));
  for (const StoredRecord& record : stored->records) {
    if (options.json) {
      console.json(record_json(record));
    } else {
      console.out.line(record_line(record));
    }
  }
  return ExitStatus::kFinished;
}

Result<ExitStatus> execute(const LogsOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto stored = app::open_session(*workspace, options.id, app::JournalUse::kLook);
  if (!stored) return fail(stored.error());
  State state;
  for (const StoredRecord& record : stored->records) {
    if (auto applied = apply_to(state, record.record); !applied) return fail(applied.error());
    for (const Event& event : project(record.record, state)) {
      if (options.json) {
        console.json(to_json(event));
      } else {
        console.out.line(event_line(event));
      }
    }
  }
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
