#include "cli/place.hpp"

#include <utility>

#include "app/plain_text.hpp"

namespace praxis::cli {

Result<app::Workspace> open_place(const app::Place& place, Console& console,
                                  std::map<std::string, std::string> flags) {
  auto workspace = app::open_workspace(place, std::move(flags));
  if (!workspace) return workspace;
  workspace->waits.on_wait = [&console](const std::string& text) { console.err.line("praxis: " + text); };
  for (const std::string& warning : workspace->config.warnings)
    console.err.line(visible_text("praxis: warning: " + warning));
  if (!workspace->project) return workspace;
  if (const std::string notice = app::project_notice(*workspace->project); !notice.empty())
    console.err.line("praxis: " + notice);
  return workspace;
}

}  // namespace praxis::cli
