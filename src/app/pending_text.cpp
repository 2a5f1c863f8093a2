#include "app/pending_text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/call_text.hpp"
#include "app/change_text.hpp"
#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/values.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kReasonRows = 3, kPathColumns = 60;
constexpr std::size_t kMarkBytes = 8;  ///< of the digest that `--seen` repeats

/// How to type a decision.
struct Choice {
  std::string_view word;  ///< printed before the command
  std::string_view flag;
  std::string_view value;   ///< value of the flag; empty: none
  std::string_view reason;  ///< optional flag for the reason
};

Choice choice_for(ApprovalVerb verb, ParkKind kind) {
  switch (verb) {
    case ApprovalVerb::kApprove:
      return {"allow", "--allow", "", ""};
    case ApprovalVerb::kReject:
      return kind == ParkKind::kQuestion ? Choice{"decline", "--deny", "", ""}
                                         : Choice{"deny", "--deny", "", " -m REASON"};
    case ApprovalVerb::kEdit:
      return {"edit", "--edit", "FILE", ""};
    case ApprovalVerb::kAnswer:
      return {"answer", "--answer", "TEXT", ""};
  }
  std::unreachable();
}

bool is_call(const ParkedStep& step) { return step.kind != ParkKind::kQuestion && !step.tool.empty(); }

/// The text before the command for this decision.
std::string label(std::string_view word) {
  constexpr std::size_t kWidth = 8;
  std::string text = std::string(word) + ':';
  text.resize(std::max(text.size(), kWidth), ' ');
  return "  " + text + ' ';
}

/// The line that replaces the command to allow a call of which a part was left out.
std::string show_line(const Workspace& workspace, const ParkId& id) {
  return label("show") + approve_command(workspace, id) + "   (the call is cut; this shows all of it)\n";
}

std::string expiry_text(const ParkedStep& step, UnixMillis now) {
  if (step.expires.value == 0) return "";
  if (step.expires <= now) return ", expired: it counts as rejected";
  return ", for " + show_duration(step.expires - now) + " more";
}

/// The id of a step that is unique in the journal.
ParkId unique_id(const ParkedStep& step) {
  if (step.session.empty() || step.id.str().contains('/')) return step.id;
  return qualified_id(step.session, step.id);
}

}  // namespace

CallView step_view(const ParkedStep& step, std::size_t columns, Extent extent) {
  const std::size_t rows = extent == Extent::kWhole ? 0 : kOverviewRows;
  if (!is_call(step)) {
    const std::string& text = step.prompt.empty() ? step.arguments : step.prompt;
    return {text.empty() ? "" : prefixed_lines("  | ", text, columns, rows), false};
  }
  CallView view = call_view(step.tool, step.arguments, columns, rows);
  if (!step.prompt.empty()) {
    const std::size_t most = extent == Extent::kWhole ? 0 : kReasonRows;
    view.text.insert(0, prefixed_lines("  - ", step.prompt, columns, most));
  }
  return view;
}

std::string approve_command(const Workspace& workspace, const ParkId& id) {
  return "praxis approve " + id.str() + place_options(workspace);
}

std::string pending_text(const Workspace& workspace, const AgentResult& result, std::size_t columns) {
  std::string text;
  const std::string resume = resume_command(workspace, result.session);
  for (const ParkedStep& step : result.pending) {
    const std::string& id = step.id.str();
    const std::string whose =
        step.session == result.session ? "" : " for " + one_line(exact(step.path), kPathColumns);
    text.append(id).append(" waits").append(whose).append(" (").append(to_string(step.kind)).append(")\n");
    const CallView body = step_view(step, columns, Extent::kOverview);
    text += body.text;
    for (const ApprovalVerb verb : allowed_approvals(step.kind)) {
      const Choice choice = choice_for(verb, step.kind);
      if (body.cut && verb == ApprovalVerb::kApprove) {
        text += show_line(workspace, unique_id(step));
        continue;
      }
      text.append(label(choice.word)).append(resume).append(" ").append(choice.flag).append(" ").append(id);
      text.append(choice.value.empty() ? "" : "=").append(choice.value).append(choice.reason).append("\n");
    }
  }
  return text;
}

std::string waiting_text(const Workspace& workspace, const AgentNode& node, const ParkedStep& step,
                         UnixMillis now, std::size_t columns, Extent extent,
                         const std::vector<std::string>& changes) {
  std::string text = step.id.str() + "  " + one_line(exact(node.path), kPathColumns) + "  (";
  text.append(to_string(step.kind)).append(expiry_text(step, now)).append(")\n");
  const CallView body = step_view(step, columns, extent);
  text += body.text;
  text += change_view(changes, columns, extent == Extent::kWhole ? 0 : kChangeRows).text;
  const bool is_whole = extent == Extent::kWhole && is_long(step, columns);
  for (const ApprovalVerb verb : allowed_approvals(step.kind)) {
    const Choice choice = choice_for(verb, step.kind);
    if (body.cut && verb == ApprovalVerb::kApprove) {
      text += show_line(workspace, step.id);
      continue;
    }
    text.append(label(choice.word)).append(approve_command(workspace, step.id));
    text.append(" ").append(choice.flag);
    if (is_whole && verb == ApprovalVerb::kApprove) text.append(" --seen ").append(seen_mark(step));
    text.append(choice.value.empty() ? "" : " ").append(choice.value).append(choice.reason).append("\n");
  }
  return text;
}

std::string deciding_text(const Workspace& workspace, const ParkedStep& step, bool cut) {
  const std::string command = approve_command(workspace, step.id);
  if (step.kind == ParkKind::kQuestion) return command + " --answer TEXT (or --deny)";
  if (cut) return command + " (shows all of it)";
  return command +
         (step.kind == ParkKind::kApproval ? " --allow (or --deny, --edit FILE)" : " --allow (or --deny)");
}

bool is_long(const ParkedStep& step, std::size_t columns) {
  return is_call(step) && call_view(step.tool, step.arguments, columns, kOverviewRows).cut;
}

std::string seen_mark(const ParkedStep& step) { return step.digest.hex(kMarkBytes); }

bool is_seen(const ParkedStep& step, std::string_view seen) {
  return seen.size() >= 2 * kMarkBytes && step.digest.hex().starts_with(seen);
}

Status check_seen(const Workspace& workspace, const ParkedStep& step, ApprovalVerb verb,
                  std::size_t columns) {
  if (verb != ApprovalVerb::kApprove || !is_long(step, columns)) return {};
  return fail(usage_error(
      "the call of " + step.id.str() + " is longer than what was shown of it",
      approve_command(workspace, unique_id(step)) + " shows all of it, with the command that allows it"));
}

}  // namespace praxis::app
