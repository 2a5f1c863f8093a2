// `approve`: lists the steps that await a human in all runs, asks about them, or decides one.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

#include "app/always_rules.hpp"
#include "app/calls_in_doubt.hpp"
#include "app/hints.hpp"
#include "app/pending_steps.hpp"
#include "app/pending_text.hpp"
#include "app/plain_text.hpp"
#include "app/reopen_run.hpp"
#include "app/run_trees.hpp"
#include "app/workspace.hpp"
#include "cli/agent_changes.hpp"
#include "cli/author.hpp"
#include "cli/commands.hpp"
#include "cli/decisions.hpp"
#include "cli/home_question.hpp"
#include "cli/line_input.hpp"
#include "cli/place.hpp"
#include "cli/rule_question.hpp"
#include "cli/server_commands.hpp"
#include "cli/step_dialog.hpp"
#include "cli/turn.hpp"
#include "praxis/policy/policy.hpp"
#include "praxis/runtime/commands.hpp"

namespace praxis::cli {
namespace {

constexpr std::chrono::seconds kOwnerPatience{5};  ///< for the process that owns the session to answer

/// The calls that the next `resume` of their run will ask about. Returns their number.
Result<std::size_t> list_in_doubt(const app::Workspace& workspace, bool json, Console& console) {
  const auto calls = app::calls_in_doubt(workspace);
  if (!calls) return fail(calls.error());
  for (const app::CallInDoubt& call : *calls) {
    if (json) {
      console.item("call_in_doubt", app::doubt_json(call));
    } else {
      console.out.write(app::doubt_text(workspace, call, terminal_size(STDOUT_FILENO).columns));
    }
  }
  return calls->size();
}

Result<ExitStatus> list_all(const std::vector<app::PendingStep>& all, const ApproveOptions& options,
                            const app::Workspace& workspace, Console& console) {
  const bool json = options.output.json;
  list_steps(all, options, workspace, app::Extent::kOverview, console);
  const auto doubts = list_in_doubt(workspace, json, console);
  if (!doubts) return fail(doubts.error());
  if (all.empty() && *doubts == 0 && !json) console.err.line("no step awaits a human");
  return ExitStatus::kFinished;
}

// ---- allow always -----------------------------------------------------------------------------------------

/// Saves the rule that would have made this approval unnecessary. False if the user did not confirm.
Result<bool> remember(Journal& journal, const app::PendingStep& waiting, bool yes, Console& console) {
  const auto always = app::always_rule_for(journal, waiting.node.id, waiting.step);
  if (!always) return fail(always.error());
  std::optional<app::AlwaysRule> rule = *always;
  if (yes || !can_confirm()) console.err.write(app::rule_text(*always, terminal_size(STDERR_FILENO).columns));
  if (!yes && !can_confirm())
    return fail(app::usage_error("cannot ask for confirmation: standard input is not a terminal",
                                 "--yes saves the rule without confirmation"));
  LineInput input;
  if (!yes) {
    rule = agreed_rule(*always, console, [&](std::string_view prompt) {
      console.err.write(prompt);
      return input.read({});
    });
  }
  if (!rule) return false;
  if (auto saved = app::save_rule(*rule); !saved) return fail(saved.error());
  return true;
}

// ---- decide -----------------------------------------------------------------------------------------------

/// The run above a step, and how it is resumed once the step is decided.
struct Resumption {
  SessionId run;
  TurnOutput output;
  app::ReopenOptions reopen;
};

/// Returns `ask` with a memory that its copies share: does not ask again about a change that was accepted.
std::function<Status(const app::AgentChange&)> once(std::function<Status(const app::AgentChange&)> ask) {
  return [ask = std::move(ask),
          accepted = std::make_shared<std::string>()](const app::AgentChange& change) -> Status {
    if (change.digest == *accepted) return {};
    Status answer = ask(change);
    if (answer) *accepted = change.digest;
    return answer;
  };
}

/// Checks that the run can be resumed before anything is recorded: a decision is of no use to a run that is
/// refused. A run that a process holds open continues there, with the agent that it has.
Result<Resumption> resumption_of(const ApproveOptions& options, const app::Workspace& workspace,
                                 const SessionId& decided, Console& console) {
  const auto session = app::open_session(workspace, decided.str(), app::JournalUse::kLook);
  if (!session) return fail(session.error());
  const auto root = app::root_of(*session->journal, decided);
  if (!root) return fail(root.error());
  const auto stored = app::open_session(workspace, root->str(), app::JournalUse::kLook);
  if (!stored) return fail(stored.error());
  Resumption resumption{*root, with_absolute_paths(options.output), {}};
  resumption.reopen.use = runtime_use(resumption.output);
  if (!options.agent.empty()) resumption.reopen.agent = std::filesystem::absolute(options.agent).string();
  resumption.reopen.accept = once(agent_acceptance(options.accept_agent, console));
  resumption.reopen.accept_home = home_acceptance(options.allow_home, console);
  resumption.reopen.stays_here = !options.place.folder.empty();
  if (!stored->state.turn || app::is_held(*stored->journal, *root)) return resumption;
  if (auto can = app::check_reopening(*stored, workspace, resumption.reopen); !can) return fail(can.error());
  return resumption;
}

/// Resumes the run whose step was decided, unless a process that owns it does so.
Result<ExitStatus> go_on(const Resumption& resumption, const app::Workspace& workspace,
                         Interrupts& interrupts, Console& console) {
  const auto stored = app::open_session(workspace, resumption.run.str(), app::JournalUse::kLook);
  if (!stored) return fail(stored.error());
  if (!stored->state.turn) return ExitStatus::kFinished;
  auto open = app::reopen_run(*stored, workspace, resumption.reopen);
  if (!open && open.error().kind() == ErrorKind::kLeaseHeld) {
    const std::string& run = resumption.run.str();
    console.result({{"run_id", run}, {"outcome", "delivered"}});
    console.err.line(fmt::format("run {} continues in the process that owns it", run));
    return ExitStatus::kFinished;
  }
  if (!open) return fail(open.error());
  return follow_run(
      *open, [](Session& session) { return session.resume(); },
      [](Team& team) { return team.stream_resume(); }, workspace, resumption.output, interrupts, console);
}

/// Delivers the decision: through the process that owns the session, or by appending it to the log.
/// `std::nullopt` on success, else the exit status of the command.
Result<std::optional<ExitStatus>> rule(const app::PendingStep& waiting, const Approval& approval,
                                       const ApproveOptions& options, const app::Workspace& workspace,
                                       Console& console) {
  const auto stored = app::open_session(workspace, waiting.node.id.str(), app::JournalUse::kWrite);
  if (!stored) return fail(stored.error());
  if (options.always) {
    const auto sure = remember(*stored->journal, waiting, options.yes, console);
    if (!sure) return fail(sure.error());
    if (!*sure) {
      console.err.line("not saved, not decided");
      return ExitStatus::kParked;
    }
  }
  const auto environment = system_environment();
  const auto answer =
      deliver(*stored->journal, *environment,
              StepApproval{stored->id, waiting.step.id, approval, cli_author()}, kOwnerPatience);
  if (!answer) return fail(answer.error());
  if (const auto* refused = std::get_if<Refused>(&*answer)) return fail(app::usage_error(refused->reason));
  if (std::holds_alternative<Delivered>(*answer)) return std::nullopt;
  console.result({{"run_id", stored->id.str()}, {"outcome", "queued"}});
  console.err.line(fmt::format(
      "{} belongs to a process that has not answered yet; the decision waits in its inbox for that "
      "process, or for the next one that opens the run",
      stored->id.str()));
  return ExitStatus::kFailed;
}

// ---- one after the other ----------------------------------------------------------------------------------

/// The runs whose steps were decided, and those with a step that was left for later.
struct Walked {
  std::map<SessionId, Resumption> decided;
  std::set<SessionId> left;
};

/// Asks about one step; delivers the decision.
Status ask_about(app::PendingStep waiting, StepDialog& dialog, const ApproveOptions& options,
                 const app::Workspace& workspace, Walked& walked, Console& console) {
  waiting.step.session = waiting.node.id;
  waiting.step.path = waiting.node.path;
  const auto resumption = resumption_of(options, workspace, waiting.node.id, console);
  if (!resumption) return fail(resumption.error());
  const auto approval = dialog.ask(waiting.step, {});
  if (!approval) {
    walked.left.insert(resumption->run);
    return {};
  }
  const auto ended = rule(waiting, *approval, options, workspace, console);
  if (!ended) return fail(ended.error());
  if (!*ended) walked.decided.try_emplace(resumption->run, *resumption);
  return {};
}

/// Asks about one step after the other, then resumes the runs whose steps were decided.
Result<ExitStatus> walk(const std::vector<app::PendingStep>& all, const ApproveOptions& options,
                        const app::Workspace& workspace, Interrupts& interrupts, Console& console) {
  const auto journal = app::open_journal(workspace, app::JournalUse::kLook);
  if (!journal) return fail(journal.error());
  StepDialog dialog(console, journal->get());
  Walked walked;
  ExitStatus status = ExitStatus::kFinished;
  for (std::size_t i = 0; i < all.size(); ++i) {
    console.err.line(fmt::format("{} of {}: {}", i + 1, all.size(), all[i].step.id.str()));
    const auto asked = ask_about(all[i], dialog, options, workspace, walked, console);
    if (!asked) status = console.report(asked.error());
  }
  for (auto& [run, resumption] : walked.decided) {
    if (walked.left.contains(run)) resumption.output.no_input = true;  // it was asked about just now
    const auto ended = go_on(resumption, workspace, interrupts, console);
    const ExitStatus one = ended ? *ended : console.report(ended.error());
    if (one != ExitStatus::kFinished) status = one;
  }
  const auto doubts = list_in_doubt(workspace, false, console);
  if (!doubts) return fail(doubts.error());
  return status == ExitStatus::kFinished && !walked.left.empty() ? ExitStatus::kParked : status;
}

}  // namespace

Result<ExitStatus> execute(const ApproveOptions& options, Console& console) {
  if (!options.server.url.empty()) return approve_at_server(options, console);
  Interrupts interrupts;
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  if (auto writable = check_output(options.output); !writable) return fail(writable.error());
  const auto approval = approval_of(options);
  if (!approval) return fail(approval.error());
  const auto all = app::pending_in(*workspace);
  if (!all) return fail(all.error());
  if (options.id.empty() && !all->empty() && can_walk(options, console))
    return walk(*all, options, *workspace, interrupts, console);
  if (options.id.empty()) return list_all(*all, options, *workspace, console);
  const auto waiting = app::find_pending(*all, options.id, app::last_run(*workspace));
  if (!waiting) return fail(waiting.error());
  if (!*approval) {
    list_steps({*waiting}, options, *workspace, app::Extent::kWhole, console);
    return ExitStatus::kFinished;
  }
  const auto seen = has_seen(*waiting, options, *workspace, console);
  if (!seen) return fail(seen.error());
  if (!*seen) return ExitStatus::kParked;
  const auto resumption = resumption_of(options, *workspace, waiting->node.id, console);
  if (!resumption) return fail(resumption.error());
  const auto ended = rule(*waiting, **approval, options, *workspace, console);
  if (!ended) return fail(ended.error());
  if (*ended) return **ended;
  console.err.line(fmt::format("{} is decided", waiting->step.id.str()));
  return go_on(*resumption, *workspace, interrupts, console);
}

}  // namespace praxis::cli
