#include "cli/chat_setup.hpp"

#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "app/hints.hpp"
#include "app/own_folder.hpp"
#include "app/setting_key.hpp"
#include "app/values.hpp"
#include "app/without_secrets.hpp"
#include "cli/editor.hpp"
#include "cli/files.hpp"
#include "cli/markdown.hpp"
#include "praxis/base/environment.hpp"

namespace praxis::cli {
namespace {

/// Renders the answers of a chat as those of other commands.
class AnswerMarkdown final : public tui::TextRenderer {
 public:
  explicit AnswerMarkdown(std::size_t columns) : stream_(columns) {}
  std::string feed(std::string_view piece) override { return stream_.feed(piece); }
  std::string finish() override { return stream_.finish(); }
  std::string tail() const override { return stream_.tail(); }

 private:
  MarkdownStream stream_;
};

tui::MakeRenderer markdown_renderer() {
  return [](std::size_t columns) { return std::make_unique<AnswerMarkdown>(columns); };
}

tui::ThemeChoice theme_of(const ChatOptions& options, const app::Workspace& workspace, bool is_bare) {
  if (is_bare) return {};
  return tui::choose_theme(options.theme.empty() ? workspace.config.get("chat.theme") : options.theme,
                           app::environment_variable);
}

std::vector<std::string> status_command_of(const app::Workspace& workspace) {
  return texts_of(parse_json(workspace.config.get("chat.status_command")).value_or(Json()));
}

/// The folder for drafts; empty if nothing is to be kept.
std::string chat_folder(const app::Workspace& workspace) {
  const auto folder = app::own_folder("XDG_STATE_HOME", ".local/state");
  return folder.empty() || !workspace.keeps_runs() ? "" : (folder / "chat").string();
}

/// Known values are masked always, and `results` of `[policy.redact]` counts as for what tools give.
std::function<std::string(std::string)> hide_secrets(const app::Workspace& workspace) {
  return [redactions = app::Redactions(workspace)](std::string text) {
    return redactions.at(&RedactRules::results).text(std::move(text));
  };
}

}  // namespace

Result<bool> is_plain(const ChatOptions& options, const Terminal& terminal) {
  if (options.plain) return true;
  if (isatty(STDIN_FILENO) == 1 && terminal.out) return !terminal.out_live;
  return fail(app::usage_error("praxis chat needs a terminal",
                               "--plain reads lines from standard input; praxis run is for scripts"));
}

tui::ChatSetup chat_setup(const ChatOptions& options, const app::Workspace& workspace,
                          const app::Workspace& named, tui::ChatPlace& place,
                          std::shared_ptr<Executor> executor, bool plain, const Terminal& terminal) {
  return {.workspace = named,
          .place = place,
          .executor = std::move(executor),
          .environment = system_environment(),
          .plain = plain,
          .theme = theme_of(options, workspace, plain || !terminal.out_color),
          .notice = {workspace.config.get("chat.notify"), workspace.config.get("chat.notify_command")},
          .status_command = status_command_of(workspace),
          .edit = edit_text,
          .write = write_file,
          .hide = hide_secrets(workspace),
          .render = !plain && terminal.out_color ? markdown_renderer() : nullptr,
          .folder = chat_folder(workspace),
          .stop = {}};
}

}  // namespace praxis::cli
