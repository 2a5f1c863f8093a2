// `export` and `import` of runs; `completion`, `man` and `--help`.
#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "app/plain_text.hpp"
#include "app/transcript.hpp"
#include "app/without_secrets.hpp"
#include "cli/commands.hpp"
#include "cli/help_text.hpp"
#include "cli/place.hpp"
#include "logs/check_export.hpp"
#include "server/run_file.hpp"

namespace praxis::cli {
namespace {

Result<std::string> exported(const app::StoredSession& stored, const std::string& format,
                             const app::Redactions& redactions) {
  if (format == "records") {
    if (auto exact = app::check_exact_export(stored.records, stored.state, redactions); !exact)
      return fail(std::move(exact.error()));
    return export_session(*stored.journal, stored.id);
  }
  if (format == "html" && server::makes_run_files(server::built_in_page()))
    return server::run_file(stored.journal, stored.id, redactions, server::built_in_page());
  const Json transcript = app::transcript_for_export(stored.records, stored.state, redactions);
  if (format == "html") return app::transcript_html(transcript);
  return format == "json" ? to_json_text(transcript) + '\n' : app::transcript_markdown(transcript);
}

}  // namespace

Result<ExitStatus> execute(const ExportOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto stored = app::open_session(*workspace, options.id, app::JournalUse::kLook);
  if (!stored) return fail(stored.error());
  const auto text = exported(*stored, options.format, app::Redactions(*workspace));
  if (!text) return fail(text.error());
  if (options.file.empty() || options.file == "-") {
    console.out.write(*text);
  } else if (auto written = write_file(options.file, *text); !written) {
    return fail(written.error());
  }
  return ExitStatus::kFinished;
}

Result<ExitStatus> execute(const ImportOptions& options, Console& console) {
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto text = read_input(options.file);
  if (!text) return fail(text.error());
  auto journal = app::open_journal(*workspace, app::JournalUse::kWrite);
  if (!journal) return fail(journal.error());
  const auto id = import_session(**journal, *text);
  if (!id) return fail(id.error());
  JsonObject members{{"run_id", id->str()}};
  if (const Status whole = check_export(*text); !whole) {
    members["problem"] = whole.error().message;
    console.err.line(
        visible_text(fmt::format("praxis: warning: {}: {}; praxis replay {} shows what follows from it",
                                 options.file, whole.error().message, id->str())));
  }
  console.result(std::move(members));
  if (!options.json) console.out.line(id->str());
  return ExitStatus::kFinished;
}

Result<ExitStatus> execute(const PrintText& options, Console& console) {
  const bool wraps = options.is_help && console.terminal.out;
  console.out.write(wraps ? wrapped_help(options.text, terminal_size(STDOUT_FILENO).columns) : options.text);
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
