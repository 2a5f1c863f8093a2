#include "cli/decisions.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "app/call_text.hpp"
#include "app/change_text.hpp"
#include "app/envelope.hpp"
#include "app/hints.hpp"
#include "app/values.hpp"
#include "cli/pages.hpp"
#include "cli/step_dialog.hpp"
#include "praxis/base/environment.hpp"

namespace praxis::cli {
namespace {

JsonObject waiting_json(const app::PendingStep& waiting) {
  JsonObject json = app::program_json(waiting.step);
  json["agent"] = waiting.node.agent;
  return json;
}

/// The journal from which the changes of files are known; null for the steps of a server, whose files are
/// elsewhere.
std::shared_ptr<Journal> journal_here(const ApproveOptions& options, const app::Workspace& workspace) {
  if (!options.server.url.empty()) return nullptr;
  auto journal = app::open_journal(workspace, app::JournalUse::kLook);
  return journal ? *std::move(journal) : nullptr;
}

/// Shows all of a long call at the terminal, then asks about it.
bool allowed_after_reading(const ApproveOptions& options, const app::Workspace& workspace,
                           const app::PendingStep& waiting, Console& console) {
  const std::size_t columns = terminal_size(STDERR_FILENO).columns;
  const auto journal = journal_here(options, workspace);
  const auto changes = app::ChangePreview(journal.get()).lines(waiting.node.id, waiting.step);
  const std::string text = app::call_view(waiting.step.tool, waiting.step.arguments, columns, 0).text +
                           app::change_view(changes, columns, 0).text;
  if (show_pages(text, console) && confirmed("Allow this call?", console)) return true;
  console.err.line("not decided: " + app::approve_command(workspace, waiting.step.id));
  return false;
}

}  // namespace

Result<Approvals> approvals_of(const ResumeOptions& options) {
  Approvals approvals;
  for (const std::string& park : options.allow) approvals.emplace_back(ParkId(park), approve());
  for (const std::string& park : options.deny) approvals.emplace_back(ParkId(park), reject(options.reason));
  for (const std::string& text : options.edit) {
    auto edited = app::parse_assignment(text);
    if (!edited)
      return fail(
          app::usage_error(fmt::format("--edit \"{}\" must be P=FILE, such as p1=arguments.json", text)));
    auto arguments = read_input(edited->second);
    if (!arguments) return fail(arguments.error());
    approvals.emplace_back(ParkId(edited->first), edit(*std::move(arguments)));
  }
  for (const std::string& text : options.answer) {
    auto answered = app::parse_assignment(text);
    if (!answered)
      return fail(
          app::usage_error(fmt::format("--answer \"{}\" must be P=TEXT, such as p1=\"the blue one\"", text)));
    approvals.emplace_back(ParkId(answered->first), answer(answered->second));
  }
  return approvals;
}

Status check_approvals(const Approvals& approvals, const std::vector<ParkedStep>& waiting,
                       const app::Workspace& workspace) {
  const std::size_t columns = terminal_size(STDERR_FILENO).columns;
  for (const auto& [id, approval] : approvals) {
    const auto step = std::ranges::find(waiting, id, &ParkedStep::id);
    if (step == waiting.end()) continue;  // the run itself refuses the decision
    if (auto seen = app::check_seen(workspace, *step, approval.verb, columns); !seen) return seen;
  }
  return {};
}

Result<std::optional<Approval>> approval_of(const ApproveOptions& options) {
  const int given = static_cast<int>(options.allow || options.always) + static_cast<int>(options.deny) +
                    static_cast<int>(options.edit.has_value()) + static_cast<int>(options.answer.has_value());
  if (given == 0 && !options.reason.empty())
    return fail(app::usage_error("-m is the reason for a rejection and requires --deny"));
  if (given == 0) return std::nullopt;
  if (given > 1)
    return fail(
        app::usage_error("give exactly one of --allow, --always, --deny, --edit FILE and --answer TEXT"));
  if (options.id.empty())
    return fail(app::usage_error("decide what? Name it, such as RUN/p1", "praxis approve lists what waits"));
  if (options.deny) return reject(options.reason);
  if (options.answer) return answer(*options.answer);
  if (!options.edit) return approve();
  auto arguments = read_input(*options.edit);
  if (!arguments) return fail(arguments.error());
  return edit(*std::move(arguments));
}

Result<bool> has_seen(const app::PendingStep& waiting, const ApproveOptions& options,
                      const app::Workspace& workspace, Console& console) {
  if (!options.allow && !options.always) {
    if (options.seen.empty()) return true;
    return fail(app::usage_error("--seen belongs to --allow or --always"));
  }
  if (!options.seen.empty()) {
    if (app::is_seen(waiting.step, options.seen)) return true;
    return fail(app::usage_error("--seen is not the digest of this call",
                                 app::approve_command(workspace, waiting.step.id) + " shows it"));
  }
  const std::size_t columns = terminal_size(STDOUT_FILENO).columns;
  const Status short_enough = app::check_seen(workspace, waiting.step, ApprovalVerb::kApprove, columns);
  if (short_enough) return true;
  if (!can_confirm() || !console.terminal.err) return fail(short_enough.error());
  return allowed_after_reading(options, workspace, waiting, console);
}

void list_steps(const std::vector<app::PendingStep>& all, const ApproveOptions& options,
                const app::Workspace& workspace, app::Extent extent, Console& console) {
  const UnixMillis now = system_environment()->now();
  const std::size_t columns = terminal_size(STDOUT_FILENO).columns;
  const auto journal = options.output.json ? nullptr : journal_here(options, workspace);
  app::ChangePreview preview(journal.get());
  for (const app::PendingStep& each : all) {
    if (options.output.json) {
      console.item("pending_step", waiting_json(each));
    } else {
      console.out.write(app::waiting_text(workspace, each.node, each.step, now, columns, extent,
                                          preview.lines(each.node.id, each.step)));
    }
  }
}

bool can_walk(const ApproveOptions& options, const Console& console) {
  return !options.output.json && !options.output.no_input && console.terminal.out &&
         StepDialog::can_ask(console);
}

}  // namespace praxis::cli
