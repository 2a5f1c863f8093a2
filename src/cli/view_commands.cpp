// `show` and `logs`: show the content of the journal.
#include <fmt/format.h>

#include "app/envelope.hpp"
#include "app/plain_text.hpp"
#include "app/transcript.hpp"
#include "app/values.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"
#include "cli/markdown.hpp"
#include "cli/place.hpp"
#include "cli/record_text.hpp"
#include "core/project.hpp"
#include "praxis/core/event.hpp"

namespace praxis::cli {
namespace {

std::string record_line(const StoredRecord& stored) {
  return fmt::format("{:5}  {}  {:16}  {}", stored.seq, to_iso8601(stored.record.time),
                     kind_name(stored.record.body), record_text(stored.record.body));
}

std::string heading(const State& state) {
  return fmt::format("run     {}\nagent   {}\nmodel   {}\nstatus  {}\nusage   {}\n", state.id.str(),
                     visible_text(state.agent->id), visible_text(state.agent->model),
                     to_string(state.status()), app::show_usage(state.usage));
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

Result<ExitStatus> execute(const ShowOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto stored = app::open_session(*workspace, options.id, app::JournalUse::kLook);
  if (!stored) return fail(stored.error());
  console.result({{"run_id", stored->id.str()}});
  if (!options.json && !options.records) {
    const std::string text = app::transcript_markdown(app::transcript(stored->records, stored->state));
    console.out.write(for_screen(console.terminal, text));
    return ExitStatus::kFinished;
  }
  if (!options.json) console.out.line(heading(stored->state));
  for (const StoredRecord& record : stored->records) {
    if (options.json) {
      console.item("record", app::program_json(record));
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
  console.result({{"run_id", stored->id.str()}});
  State state;
  for (const StoredRecord& record : stored->records) {
    if (auto applied = apply_to(state, record.record); !applied) return fail(applied.error());
    for (const Event& event : project(record.record, state)) {
      if (options.json) {
        console.json(app::program_json(event));
      } else {
        console.out.line(event_line(event));
      }
    }
  }
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
