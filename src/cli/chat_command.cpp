// `chat`: opens or begins a run for the chat at the terminal (tui/chat.hpp).
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/hints.hpp"
#include "app/open_runtime.hpp"
#include "app/plain_text.hpp"
#include "app/reopen_run.hpp"
#include "app/run_agent.hpp"
#include "app/values.hpp"
#include "app/workspace.hpp"
#include "base/visible_text.hpp"
#include "cli/agent_changes.hpp"
#include "cli/author.hpp"
#include "cli/chat_setup.hpp"
#include "cli/commands.hpp"
#include "cli/home_question.hpp"
#include "cli/interrupts.hpp"
#include "cli/place.hpp"
#include "cli/server_commands.hpp"
#include "tui/chat.hpp"
#include "tui/local_chat.hpp"

namespace praxis::cli {
namespace {

using RunPtr = std::unique_ptr<tui::ChatRun>;

/// Opens the runs of a chat: the first, and those that its user changes to.
class ChatRuns final : public tui::LocalChatPlace {
 public:
  ChatRuns(const ChatOptions& options, const app::Workspace& workspace, Console& console)
      : LocalChatPlace(workspace, runtime_),
        options_(options),
        workspace_(workspace),
        console_(console),
        agent_(options.agent),
        accept_home_([this, ask = home_acceptance(options.allow_home, console)](const std::string& folder) {
          return accepted_home(folder, ask);
        }) {}

  /// Opens the runtime and the run that the command line names.
  Result<RunPtr> first() {
    auto run = options_.resume.empty() ? begun_first() : resumed();
    if (!run || options_.member.empty()) return run;
    if ((*run)->members().all.empty()) {
      return fail(app::usage_error("--agent names a member of a team, and this run has one agent",
                                   "[team] in an agent file describes a team"));
    }
    if (auto set = (*run)->set_member(options_.member); !set) return fail(set.error());
    return run;
  }

  /// A run of the journal, or a new one for an empty id. Asks nothing, because the chat has the terminal.
  Result<RunPtr> open(const tui::ChatOpening& opening) override {
    const std::string& model = opening.model;
    in_chat_ = true;
    if (opening.id.empty()) {
      const bool is_other = !opening.agent.empty() && opening.agent != agent_;
      auto run =
          begun(model.empty() && !is_other ? options_.model : model, is_other ? opening.agent : agent_);
      if (run && is_other) agent_ = opening.agent;
      return run;
    }
    const auto stored = app::open_session(workspace_, opening.id, app::JournalUse::kLook);
    if (!stored) return fail(stored.error());
    return chat_run(app::reopen_any_in(runtime_, *stored, workspace_,
                                       {.use = {.principal = cli_author()}, .agent = {}, .model = model}));
  }

  const std::shared_ptr<Runtime>& runtime() const { return runtime_; }

 private:
  /// Asks whether tools may reach the home folder, unless the chat has the terminal.
  Status accepted_home(const std::string& folder, const app::HomeAcceptance& ask) {
    if (in_chat_ && !home_accepted_) {
      return fail(app::usage_error("the tools of the agent would reach the folder " + app::in_quotes(folder) +
                                       ", which is your home folder or holds it",
                                   "praxis chat NAME can ask whether they may"));
    }
    Status accepted = in_chat_ ? Status() : ask(folder);
    home_accepted_ = accepted.has_value();
    return accepted;
  }

  Result<RunPtr> chat_run(Result<app::OpenRun> open) const {
    if (!open) return fail(open.error());
    auto team = open->team ? std::make_shared<Team>(*std::move(open->team)) : nullptr;
    return tui::make_local_run(workspace_, runtime_, cli_author(), std::move(open->session), std::move(team));
  }

  Result<RunPtr> begun_first() {
    auto runtime = app::open_runtime(workspace_, {.principal = cli_author()});
    if (!runtime) return fail(runtime.error());
    runtime_ = *std::move(runtime);
    return begun(options_.model, options_.agent);
  }

  Result<RunPtr> begun(const std::string& model, const std::string& name) {
    std::optional<TeamDescription> description;
    app::RunAgent wanted{
        .model = model,
        .accept_home = accept_home_,
        .warn =
            [this](const std::string& text) { console_.err.line(visible_text("praxis: warning: " + text)); },
        .team = &description};
    if (!name.empty()) {
      const auto choice = app::find_agent_file(workspace_, name);
      if (!choice) return fail(choice.error());
      if (!*choice) return fail(app::no_such_agent(workspace_, name));
      wanted.file = (*choice)->file;
      wanted.project = (*choice)->project;
    }
    auto agent = app::agent_for_run(wanted, workspace_, *runtime_);
    if (!agent) return fail(agent.error());
    std::shared_ptr<Team> team;
    if (description) {
      auto made = make_team(*agent, *description, runtime_);
      if (!made) return fail(made.error());
      team = std::make_shared<Team>(*std::move(made));
    }
    auto session = team ? team->begin() : runtime_->create_session(*agent);
    if (!session) return fail(session.error());
    return tui::make_local_run(workspace_, runtime_, cli_author(), *std::move(session), std::move(team));
  }

  Result<RunPtr> resumed() {
    const auto stored = app::open_session(workspace_, options_.resume, app::JournalUse::kLook);
    if (!stored) return fail(stored.error());
    auto open = app::reopen_run(*stored, workspace_,
                                {.use = {.principal = cli_author()},
                                 .agent = {},
                                 .model = options_.model,
                                 .accept = agent_acceptance("", console_),
                                 .accept_home = accept_home_,
                                 .stays_here = !options_.place.folder.empty()});
    if (open) runtime_ = open->runtime;
    return chat_run(std::move(open));
  }

  const ChatOptions& options_;
  const app::Workspace& workspace_;
  Console& console_;
  std::string agent_;  ///< of new runs; empty: the default one
  app::HomeAcceptance accept_home_;
  bool in_chat_ = false;
  bool home_accepted_ = false;
  std::shared_ptr<Runtime> runtime_;
};

}  // namespace

Result<ExitStatus> execute(const ChatOptions& options, Console& console) {
  const auto plain = is_plain(options, console.terminal);
  if (!plain) return fail(plain.error());
  if (!options.resume.empty() && !options.agent.empty())
    return fail(app::usage_error("AGENT and --resume exclude each other: a run keeps its agent"));
  if (!options.server.url.empty()) return chat_at_server(options, *plain, console);
  Interrupts interrupts;
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  workspace->waits.stop_waiting = interrupts.stop_token();
  ChatRuns runs(options, *workspace, console);
  auto session = runs.first();
  if (!session) return fail(session.error());
  interrupts.on_first([] {});  // the chat sees the token
  tui::ChatSetup setup = chat_setup(options, *workspace, *workspace, runs,
                                    runs.runtime()->model_services().executor, *plain, console.terminal);
  setup.stop = interrupts.stop_token();
  const auto run = tui::run_chat(setup, *std::move(session));
  if (!run) return fail(run.error());
  if (!run->empty() && workspace->keeps_runs()) {
    const std::string journal =
        workspace->journal_given ? " --journal " + app::shell_word(workspace->journal) : "";
    console.err.line(fmt::format("resume: praxis chat --resume {}{}", run->str(), journal));
  }
  if (const int signal = interrupts.received(); signal != 0) return static_cast<ExitStatus>(128 + signal);
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
