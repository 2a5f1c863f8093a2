#include "app/calls_in_doubt.hpp"

#include "app/call_text.hpp"
#include "app/envelope.hpp"
#include "app/plain_text.hpp"
#include "app/run_trees.hpp"
#include "logs/read_state.hpp"

namespace praxis::app {
namespace {

/// Whether the next process that resumes the session has to ask what became of the call.
bool needs_answer(const State& state, const CallState& call) {
  if (call.phase != CallState::Phase::kRunning && call.phase != CallState::Phase::kInDoubt) return false;
  const ToolSpec* tool = state.agent->find_tool(call.call.name);
  return tool == nullptr || !tool->definition.idempotent;
}

Status add_calls(Journal& journal, const AgentNode& node, const SessionId& root,
                 std::vector<CallInDoubt>& calls) {
  const auto row = journal.session(node.id);
  if (!row) return fail(row.error());
  if (row->held) return {};
  const auto state = read_state(journal, node.id);
  if (!state) return fail(state.error());
  if (!state->turn || state->turn->stop || state->agent->in_doubt != InDoubt::kPark) return {};
  for (const CallState& call : state->turn->calls) {
    if (needs_answer(*state, call)) calls.push_back({node, root, call.call.name, call.call.arguments});
  }
  return {};
}

}  // namespace

Result<std::vector<CallInDoubt>> calls_in_doubt(const Workspace& workspace) {
  const auto opened = open_journal(workspace, JournalUse::kLook);
  const bool is_new = !opened && opened.error().kind() == ErrorKind::kNotFound;
  if (is_new) return std::vector<CallInDoubt>{};  // no journal, hence no runs
  if (!opened) return fail(opened.error());
  const std::shared_ptr<Journal>& journal = *opened;
  RunTrees trees(journal, RunTrees::Roots::kBusy);
  if (auto read = trees.refresh(); !read) return fail(read.error());
  const auto roots = trees.deserted();
  if (!roots) return fail(roots.error());
  std::vector<CallInDoubt> calls;
  for (const SessionId& root : *roots) {
    JournalTree tree(journal, {.root = root});
    auto read = tree.refresh();
    if (!read && read.error().kind() == ErrorKind::kNotFound) continue;  // removed meanwhile
    if (!read) return fail(read.error());
    for (const AgentNode& node : tree.nodes()) {
      if (is_idle(node)) continue;
      if (auto added = add_calls(*journal, node, root, calls); !added) return fail(added.error());
    }
  }
  return calls;
}

std::string doubt_text(const Workspace& workspace, const CallInDoubt& call, std::size_t columns) {
  constexpr std::size_t kPathColumns = 60;
  std::string text = call.node.id.str() + "  " + one_line(exact(call.node.path), kPathColumns);
  text += "  (in_doubt, not resumed)\n";
  text += "  The process ended while this call ran: it may or may not have taken effect.\n";
  text += call_view(call.tool, call.arguments, columns, kOverviewRows).text;
  return text.append("  resume:  ").append(resume_command(workspace, call.root)).append("\n");
}

JsonObject doubt_json(const CallInDoubt& call) {
  return JsonObject{{"id", nullptr},
                    {"kind", "in_doubt"},
                    {"session", call.node.id.str()},
                    {"agent", call.node.agent},
                    {"path", call.node.path},
                    {"tool", call.tool},
                    {"arguments", program_arguments(call.arguments)},
                    {"resume", call.root.str()}};
}

}  // namespace praxis::app
