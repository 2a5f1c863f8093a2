#include "cli/live_traces.hpp"

#include <utility>

#include "app/own_folder.hpp"
#include "base/visible_text.hpp"

namespace praxis::cli {

std::unique_ptr<telemetry::LiveExport> live_traces(const app::Workspace& workspace,
                                                   std::function<void(const std::string&)> warn) {
  const auto setting = [&](const std::string& key) { return workspace.config.get("telemetry." + key); };
  // Variables of OpenTelemetry alone send nothing: programs around Praxis set them for themselves.
  if (setting("endpoint").empty() || !workspace.in_file()) return nullptr;
  auto settings = telemetry::collector_settings(setting, app::environment_variable, PRAXIS_VERSION);
  if (!settings) {
    warn("traces are not sent: " + settings.error().message);
    return nullptr;
  }
  auto journal = app::open_journal(workspace, app::JournalUse::kLook);
  if (!journal) {
    warn("traces are not sent: " + journal.error().message);
    return nullptr;
  }
  auto live = telemetry::LiveExport::start(*std::move(journal), {.collector = *std::move(settings),
                                                                 .file = workspace.journal + ".traces",
                                                                 .redactions = app::Redactions(workspace),
                                                                 .warn = warn});
  if (live) return *std::move(live);
  warn("traces are not sent: " + live.error().message);
  return nullptr;
}

std::unique_ptr<telemetry::LiveExport> live_traces(const app::Workspace& workspace, Console& console) {
  return live_traces(workspace, [&console](const std::string& text) {
    console.err.line(visible_text("praxis: warning: " + text));
  });
}

}  // namespace praxis::cli
