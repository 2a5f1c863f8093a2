// `acp`: the agent of an editor, on standard input and output.
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/visible_text.hpp"
#include "cli/author.hpp"
#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
#include "cli/place.hpp"
#include "praxis/journal/postgres_journal.hpp"
#include "protocols/acp_serving.hpp"

namespace praxis::cli {
namespace {

namespace fs = std::filesystem;

std::string absolute_path_of(const std::string& path) {
  std::error_code failed;
  const fs::path whole = fs::absolute(path, failed);
  return failed ? path : whole.lexically_normal().string();
}

}  // namespace

Result<ExitStatus> execute(const AcpOptions& options, Console& console) {
  Interrupts interrupts;
  interrupts.on_first([] {});
  if (auto entered = app::enter_place(options.place); !entered) return fail(entered.error());
  protocols::AcpServing serving;
  serving.version = PRAXIS_VERSION;
  serving.agent = options.agent.ends_with(".toml") ? absolute_path_of(options.agent) : options.agent;
  serving.model = options.model;
  serving.place = options.place;
  serving.place.folder = fs::current_path().string();
  if (!options.place.journal.empty() && options.place.journal != "memory" &&
      !is_postgres_address(options.place.journal))
    serving.place.journal = absolute_path_of(options.place.journal);
  serving.author = cli_author();
  serving.open = [&](const app::Place& place) {
    auto workspace = open_place(place, console);
    if (workspace) workspace->waits.stop_waiting = interrupts.stop_token();
    return workspace;
  };
  // Standard input and output are the editor's, so nothing can be asked there.
  if (options.allow_home) serving.accept_home = [](const std::string&) { return Status(); };
  serving.warn = [&console](const std::string& text) {
    console.err.line(visible_text("praxis: warning: " + text));
  };
  if (auto served = protocols::serve_acp(serving, STDIN_FILENO, STDOUT_FILENO, interrupts.stop_token());
      !served)
    return fail(served.error());
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
