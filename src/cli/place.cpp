#include "cli/place.hpp"

#include <utility>

#include "app/plain_text.hpp"
#include "cli/passphrase.hpp"

namespace praxis::cli {

Result<app::Workspace> open_place(const app::Place& place, Console& console,
                                  std::map<std::string, std::string> flags) {
  auto workspace = app::open_workspace(place, std::move(flags));
  if (!workspace) return workspace;
  workspace->waits.on_wait = [&console](const std::string& text) { console.err.line("praxis: " + text); };
  workspace->ask_passphrase = passphrase_prompt(false);
  for (const std::string& warning : workspace->config.warnings)
    console.err.line(visible_text("praxis: warning: " + warning));
  if (!workspace->project) return workspace;
  if (const std::string notice = app::project_notice(*workspace->project); !notice.empty())
    console.err.line("praxis: " + notice);
  return workspace;
}

void say_no_runs(const app::Workspace& workspace, Console& console) {
  console.err.line("no runs yet in " + workspace.journal);
}

Result<std::shared_ptr<Journal>> journal_to_look_at(const app::Workspace& workspace, Console& console) {
  auto journal = app::open_journal(workspace, app::JournalUse::kLook);
  if (journal || journal.error().kind() != ErrorKind::kNotFound) return journal;
  say_no_runs(workspace, console);
  return nullptr;
}

}  // namespace praxis::cli
