// `show`: the conversation of a run, or its records.
#include <fmt/format.h>
#include <unistd.h>

#include "app/context_report.hpp"
#include "app/envelope.hpp"
#include "app/plain_text.hpp"
#include "app/shown_run.hpp"
#include "app/transcript.hpp"
#include "app/values.hpp"
#include "cli/commands.hpp"
#include "cli/markdown.hpp"
#include "cli/place.hpp"
#include "cli/record_text.hpp"
#include "cli/terminal.hpp"

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

void show_context(const app::ContextReport& report, bool json, Console& console) {
  if (json) return console.item("context", app::context_json(report));
  for (const std::string& line : app::context_lines(report, terminal_size(STDOUT_FILENO).columns))
    console.out.line(line);
}

}  // namespace

Result<ExitStatus> execute(const ShowOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto stored = options.context ? app::open_session(*workspace, options.id, app::JournalUse::kLook)
                                      : app::open_shown(*workspace, options.id);
  if (!stored) return fail(stored.error());
  console.result({{"run_id", stored->id.str()}});
  if (options.context) {
    show_context(app::context_report(stored->state), options.json, console);
    return ExitStatus::kFinished;
  }
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

}  // namespace praxis::cli
