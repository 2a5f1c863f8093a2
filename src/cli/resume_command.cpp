#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "app/envelope.hpp"
#include "cli/author.hpp"
#include "cli/commands.hpp"
#include "cli/pending_text.hpp"
#include "cli/take_up.hpp"
#include "cli/values.hpp"

namespace praxis::cli {
namespace {

/// Parses the approvals on the command line. Error `kInput`.
Result<Approvals> approvals_of(const ResumeOptions& options) {
  Approvals approvals;
  for (const std::string& park : options.allow) approvals.emplace_back(ParkId(park), approve());
  for (const std::string& park : options.deny) approvals.emplace_back(ParkId(park), reject(options.reason));
  for (const std::string& text : options.edit) {
    auto edited = parse_assignment(text);
    if (!edited) return fail(edited.error());
    auto arguments = read_input(edited->second);
    if (!arguments) return fail(arguments.error());
    approvals.emplace_back(ParkId(edited->first), edit(*std::move(arguments)));
  }
  for (const std::string& text : options.answer) {
    auto answered = parse_assignment(text);
    if (!answered) return fail(answered.error());
    approvals.emplace_back(ParkId(answered->first), answer(answered->second));
  }
  return approvals;
}

/// The pending steps of the run and its sub-agents; empty if the run has work to do before a decision is
/// needed.
Result<std::vector<ParkedStep>> waiting_steps(const StoredSession& stored) {
  JournalTree tree(stored.journal, {.root = stored.id});
  if (auto read = tree.refresh(); !read) return fail(read.error());
  const auto nodes = tree.nodes();
  if (nodes.empty() || nodes.front().status != SessionStatus::kAwaitingUser) return std::vector<ParkedStep>{};
  std::vector<ParkedStep> steps = result_of(stored.state).pending;
  for (const AgentNode& node : nodes) {
    if (node.id != stored.id) std::ranges::copy(node.pending, std::back_inserter(steps));
  }
  return steps;
}

/// Reports the state of a run that cannot be resumed now: its pending steps, if any.
Result<ExitStatus> tell_state(const StoredSession& stored, std::vector<ParkedStep> waiting,
                              const Workspace& workspace, bool json, Console& console) {
  AgentResult result = result_of(stored.state);
  result.pending = std::move(waiting);
  if (result.pending.empty()) {
    return fail(
        usage_error(fmt::format("run {} has no turn to resume", stored.id.str()),
                    fmt::format("{} \"PROMPT\" starts another", resume_command(workspace, stored.id))));
  }
  result.status = SessionStatus::kAwaitingUser;
  if (json) console.json(envelope(result));
  console.err.write(pending_text(workspace, result));
  return ExitStatus::kParked;
}

/// Decides what the open turn waits for and, once that turn has ended well, sends the prompt.
ExitStatus decide_then_send(OpenRun& open, const Approvals& approvals, std::string prompt,
                            const Workspace& workspace, Interrupts& interrupts, Console& console) {
  const ExitStatus decided =
      follow(open.session.resume(approvals), *open.runtime, workspace, open.output, interrupts, console);
  if (decided == ExitStatus::kFinished)
    return follow(open.session.send_user_message(std::move(prompt)), *open.runtime, workspace, open.output,
                  interrupts, console);
  console.err.write("the prompt was not sent, because the open turn did not complete\n");
  return decided;
}

}  // namespace

Result<ExitStatus> execute(const ResumeOptions& options, Console& console) {
  Interrupts interrupts;
  auto workspace = open_workspace(options.place);
  if (!workspace) return fail(workspace.error());
  if (auto writable = check_output(options.output); !writable) return fail(writable.error());
  auto approvals = approvals_of(options);
  if (!approvals) return fail(approvals.error());
  std::string prompt;
  if (options.prompt) {
    auto text = read_prompt(*options.prompt);
    if (!text) return fail(text.error());
    prompt = *std::move(text);
  }

  auto stored = open_session(*workspace, options.id, JournalUse::kLook);
  if (!stored) return fail(stored.error());
  auto waiting = waiting_steps(*stored);
  if (!waiting) return fail(waiting.error());
  const bool waits = !waiting->empty() && approvals->empty();
  const bool has_turn = stored->state.turn.has_value() || !stored->state.queue.empty();
  if (!options.prompt && (waits || !has_turn))
    return tell_state(*stored, *std::move(waiting), *workspace, options.output.json, console);

  auto open =
      take_up(*stored, *workspace,
              {options.output, options.agent, options.model, options.force, !options.place.folder.empty()});
  if (!open) {
    const bool held = json_string(open.error().detail, "kind") == "lease_held";
    return fail(held ? with_hint(open.error(), "--force takes it over") : open.error());
  }
  if (options.prompt && !approvals->empty())
    return decide_then_send(*open, *approvals, std::move(prompt), *workspace, interrupts, console);
  Session& session = open->session;
  Run run = options.prompt ? session.send_user_message(std::move(prompt))
                           : session.resume(*approvals, cli_author());
  return follow(std::move(run), *open->runtime, *workspace, open->output, interrupts, console);
}

}  // namespace praxis::cli
