#include "app/pending_text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/plain_text.hpp"
#include "app/values.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kPromptWidth = 2000;

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

/// The call or question, on one line.
std::string what_of(const ParkedStep& step) {
  return step.tool.empty() ? step.arguments : step.tool + ' ' + step.arguments;
}

/// `exact` of the first `most` bytes, with a note on how many are omitted.
std::string shown(const std::string& text, std::size_t most) {
  if (most == 0 || text.size() <= most) return exact(text);
  return exact(text.substr(0, most)) + "... (" + std::to_string(text.size() - most) + " more bytes)";
}

/// The prompt of the step, on its own line; empty without a prompt.
std::string prompt_line(const ParkedStep& step) {
  return step.prompt.empty() ? "" : "  " + one_line(step.prompt, kPromptWidth) + '\n';
}

/// The text before the command for this decision.
std::string label(const Choice& choice) {
  constexpr std::size_t kWidth = 8;
  std::string word = std::string(choice.word) + ':';
  word.resize(std::max(word.size(), kWidth), ' ');
  return "  " + word + ' ';
}

std::string expiry_text(const ParkedStep& step, UnixMillis now) {
  if (step.expires.value == 0) return "";
  if (step.expires <= now) return ", expired: it counts as rejected";
  return ", for " + show_duration(step.expires - now) + " more";
}

}  // namespace

std::string approve_command(const Workspace& workspace, const ParkId& id) {
  const std::string command = "praxis approve " + id.str();
  return workspace.journal_given ? command + " --journal " + shell_word(workspace.journal) : command;
}

std::string pending_text(const Workspace& workspace, const AgentResult& result) {
  std::string text;
  const std::string resume = resume_command(workspace, result.session);
  for (const ParkedStep& step : result.pending) {
    const std::string& id = step.id.str();
    const std::string whose = step.session == result.session ? "" : " for " + harmless(step.path);
    const std::string what = step.kind == ParkKind::kQuestion ? "" : what_of(step);
    text.append(id).append(" waits").append(whose).append(" (").append(to_string(step.kind)).append(")");
    text.append(what.empty() ? "" : ": ")
        .append(shown(what, kPromptWidth))
        .append("\n")
        .append(prompt_line(step));
    for (const ApprovalVerb verb : allowed_approvals(step.kind)) {
      const Choice choice = choice_for(verb, step.kind);
      text.append(label(choice)).append(resume).append(" ").append(choice.flag).append(" ").append(id);
      text.append(choice.value.empty() ? "" : "=").append(choice.value).append(choice.reason).append("\n");
    }
  }
  return text;
}

std::string waiting_text(const Workspace& workspace, const AgentNode& node, const ParkedStep& step,
                         UnixMillis now, std::size_t most) {
  std::string text = step.id.str() + "  " + harmless(node.path) + "  (";
  text.append(to_string(step.kind)).append(expiry_text(step, now)).append(")\n");
  text += prompt_line(step);
  if (const std::string what = what_of(step); !what.empty()) text += "  " + shown(what, most) + '\n';
  for (const ApprovalVerb verb : allowed_approvals(step.kind)) {
    const Choice choice = choice_for(verb, step.kind);
    text.append(label(choice)).append(approve_command(workspace, step.id)).append(" ").append(choice.flag);
    text.append(choice.value.empty() ? "" : " ").append(choice.value).append(choice.reason).append("\n");
  }
  return text;
}

std::string deciding_text(const Workspace& workspace, const ParkedStep& step) {
  const std::string command = approve_command(workspace, step.id);
  switch (step.kind) {
    case ParkKind::kQuestion:
      return command + " --answer TEXT (or --deny)";
    case ParkKind::kApproval:
      return command + " --allow (or --deny, --edit FILE)";
    default:
      return command + " --allow (or --deny)";
  }
}

}  // namespace praxis::app
