#include "app/pending_steps.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/run_nodes.hpp"
#include "app/run_trees.hpp"
#include "base/ascii.hpp"

namespace praxis::app {
namespace {

bool is_last(std::string_view run) { return lower_case(run) == "last"; }

/// The part before the last slash of what a user typed, and the part after it.
struct TypedStep {
  explicit TypedStep(std::string_view typed) {
    const auto slash = typed.rfind('/');
    if (slash != std::string_view::npos) run = typed.substr(0, slash);
    step = typed.substr(slash == std::string_view::npos ? 0 : slash + 1);
  }
  std::optional<std::string_view> run;
  std::string_view step;
};

/// Whether `run`, which is not `last`, names the session: by its name, or by a sufficiently long beginning or
/// end of its id.
bool names_session(std::string_view run, const PendingStep& waiting) {
  constexpr std::size_t kShortestPart = 4;
  if (!run.empty() && run == waiting.name) return true;
  const std::string session = lower_case(waiting.node.id.str()), part = lower_case(run);
  return part.size() >= kShortestPart && (session.starts_with(part) || session.ends_with(part));
}

/// Whether `typed` names the step: `RUN/p1`, or `p1` of any run. `last` as RUN is the session `last`.
bool names(const TypedStep& typed, const PendingStep& waiting, const SessionId& last) {
  const std::string& id = waiting.step.id.str();
  if (typed.step != std::string_view(id).substr(id.rfind('/') + 1)) return false;
  if (!typed.run) return true;
  return is_last(*typed.run) ? waiting.node.id == last : names_session(*typed.run, waiting);
}

}  // namespace

Result<std::vector<PendingStep>> pending_in(const Workspace& workspace) {
  auto journal = open_journal(workspace, JournalUse::kLook);
  const bool is_new = !journal && journal.error().kind() == ErrorKind::kNotFound;
  if (is_new) return std::vector<PendingStep>{};  // no journal, hence no runs
  if (!journal) return fail(journal.error());
  RunTrees trees(*journal, RunTrees::Roots::kBusy);
  if (auto read = trees.refresh(); !read) return fail(read.error());
  std::vector<PendingStep> all;
  for (const AgentNode& node : trees.nodes()) {
    if (node.pending.empty()) continue;
    const auto row = (*journal)->session(node.id);
    const auto root = root_of(**journal, node.id);
    for (const ParkedStep& step : node.pending)
      all.push_back({node, step, row ? row->name : "", root ? *root : node.id});
  }
  return all;
}

SessionId last_run(const Workspace& workspace) {
  const auto journal = open_journal(workspace, JournalUse::kLook);
  if (!journal) return {};
  return find_session(**journal, "last").value_or(SessionId{});
}

Result<PendingStep> find_pending(const std::vector<PendingStep>& all, const std::string& typed,
                                 const SessionId& last) {
  const TypedStep parts(typed);
  std::vector<PendingStep> fitting;
  std::ranges::copy_if(all, std::back_inserter(fitting),
                       [&](const PendingStep& each) { return names(parts, each, last); });
  if (fitting.empty() && parts.run && is_last(*parts.run)) {
    const TypedStep any_run(parts.step);
    std::ranges::copy_if(all, std::back_inserter(fitting), [&](const PendingStep& each) {
      return each.root == last && names(any_run, each, last);
    });
  }
  if (fitting.size() == 1) return fitting.front();
  if (fitting.empty()) {
    return fail(usage_error("no pending step " + in_quotes(typed) + "; it may be decided already",
                            "praxis approve lists what waits"));
  }
  std::string ids;
  for (const PendingStep& each : fitting) ids += ' ' + each.step.id.str();
  return fail(usage_error(in_quotes(typed) + " matches several steps:" + ids));
}

Result<std::vector<ParkedStep>> pending_steps(const StoredSession& stored) {
  JournalTree tree(stored.journal, {.root = stored.id});
  if (auto read = tree.refresh(); !read) return fail(read.error());
  return pending_steps(stored.state, tree.nodes());
}

std::vector<ParkedStep> pending_steps(const State& state, const std::vector<AgentNode>& nodes) {
  if (nodes.empty() || nodes.front().status != SessionStatus::kAwaitingUser) return {};
  std::vector<ParkedStep> steps;
  for (const auto& [id, step] : state.parked) steps.push_back(step);
  for (const AgentNode& node : nodes) {
    if (node.id == state.id) continue;
    for (ParkedStep step : node.pending) {
      step.session = node.id;
      step.path = node.path;
      steps.push_back(std::move(step));
    }
  }
  return steps;
}

}  // namespace praxis::app
