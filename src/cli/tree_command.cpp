// `tree`: draws the agents of runs, once or continuously, and sends commands to a node.
#include <fmt/format.h>

#include <chrono>
#include <tuple>
#include <variant>

#include "app/hints.hpp"
#include "app/run_trees.hpp"
#include "app/shown_run.hpp"
#include "app/workspace.hpp"
#include "cli/author.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"
#include "cli/server_commands.hpp"
#include "cli/tree_view.hpp"
#include "logs/read_state.hpp"
#include "praxis/runtime/commands.hpp"
#include "server/event_redactor.hpp"

namespace praxis::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kAnswerPatience = 5s;  ///< for the process that owns the session to answer a command

/// Trees with what the filters at `shown` of each session leave.
struct ShownTrees {
  app::RunTrees trees;
  server::EventRedactor::RedactionOf filters_of;
  std::shared_ptr<Journal> journal;
};

Result<ShownTrees> trees_of(const TreeOptions& options, const app::Workspace& workspace) {
  auto journal = app::open_journal(workspace, app::JournalUse::kLook);
  if (!journal) return fail(journal.error());
  auto filters_of = server::shown_filters_of_sessions(app::Redactions(workspace), *journal);
  if (options.root.empty()) {
    const auto roots = options.all ? app::RunTrees::Roots::kAll : app::RunTrees::Roots::kLast;
    return ShownTrees{app::RunTrees(*journal, roots), std::move(filters_of), *journal};
  }
  const auto root = find_session(**journal, options.root);
  if (!root) return fail(app::with_hint(root.error(), "praxis runs lists them"));
  return ShownTrees{app::RunTrees(*journal, *root), std::move(filters_of), *journal};
}

Result<TreeState> trees_now(ShownTrees& shown) {
  app::RunTrees& trees = shown.trees;
  if (auto read = trees.refresh(); !read) return fail(read.error());
  auto deserted = trees.deserted();
  if (!deserted) return fail(deserted.error());
  std::vector<AgentNode> nodes = trees.nodes();
  for (AgentNode& node : nodes) {
    const redact::Redaction filters = shown.filters_of(node.id);
    node = app::shown_node(std::move(node), filters, [&](const SessionId& id) {
      auto state = read_state(*shown.journal, id);
      return state ? std::optional(*std::move(state)) : std::nullopt;
    });
  }
  return TreeState{std::move(nodes), trees.busy(), *std::move(deserted)};
}

/// Whether the command takes effect only once a process runs the session.
bool wants_to_run(CommandVerb verb) {
  return verb == CommandVerb::kUnpause || verb == CommandVerb::kSteer || verb == CommandVerb::kEnqueue ||
         verb == CommandVerb::kModify;
}

std::string outcome_name(const Delivery& answer) {
  if (std::holds_alternative<Delivered>(answer)) return "delivered";
  return std::holds_alternative<Refused>(answer) ? "refused" : "queued";
}

}  // namespace

Result<ExitStatus> execute(const TreeOptions& options, Console& console) {
  if (!options.server.url.empty()) return tree_at_server(options, console);
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  auto trees = trees_of(options, *workspace);
  if (!trees && trees.error().kind() == ErrorKind::kNotFound && options.root.empty()) {
    say_no_runs(*workspace, console);
    return ExitStatus::kFinished;
  }
  if (!trees) return fail(trees.error());
  const auto look = [&] { return trees_now(*trees); };
  if (options.watch) return watch_tree(look, options.json, *workspace, console);
  const auto state = look();
  if (!state) return fail(state.error());
  show_tree(state->nodes, options.json, *workspace, console);
  return ExitStatus::kFinished;
}

Result<ExitStatus> execute(const TreeCommandOptions& options, Console& console) {
  if (!options.server.url.empty()) return command_at_server(options, console);
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  const auto stored = app::open_session(*workspace, options.node, app::JournalUse::kWrite);
  if (!stored) return fail(stored.error());
  const auto& [journal, node] = std::tie(stored->journal, stored->id);
  const auto environment = system_environment();
  const auto root = app::root_of(*journal, node);
  // Before `deliver`, which may own the session itself for a moment.
  const bool is_idle = root && !app::is_held(*journal, *root);
  Commands commands{{options.verb, node, options.text, cli_author()}};
  for (const auto& [verb, text] : options.further) commands.push_back({verb, node, text, cli_author()});
  const auto answer = deliver(*journal, *environment, std::move(commands), kAnswerPatience);
  if (!answer) return fail(answer.error());
  console.result({{"session", node.str()}, {"verb", options.name}, {"outcome", outcome_name(*answer)}});
  if (const auto* refused = std::get_if<Refused>(&*answer)) return fail(app::usage_error(refused->reason));
  if (std::holds_alternative<Queued>(*answer)) {
    console.err.line(fmt::format(
        "{} belongs to a process that has not answered yet; the command waits in its inbox for that "
        "process, or for the next one that opens the run",
        node.str()));
    return ExitStatus::kFailed;
  }
  console.err.line(fmt::format("{} {}", node.str(), done_text(options.verb)));
  for (const auto& [verb, text] : options.further)
    console.err.line(fmt::format("{} {}", node.str(), done_text(verb)));
  if (is_idle && wants_to_run(options.verb)) {
    const bool needs_prompt = options.verb == CommandVerb::kSteer && !stored->state.turn;
    console.err.line(fmt::format("no process runs it now: {}{}", app::resume_command(*workspace, *root),
                                 needs_prompt ? " \"PROMPT\"" : ""));
  }
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
