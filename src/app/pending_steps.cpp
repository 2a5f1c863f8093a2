#include "app/pending_steps.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "app/run_trees.hpp"

namespace praxis::app {
namespace {

/// Whether `typed` names the step: `RUN/p1`, where RUN is a sufficiently long beginning or end of the id, or
/// `p1`.
bool names(std::string_view typed, const PendingStep& waiting) {
  constexpr std::size_t kShortestPart = 4;
  const std::string& id = waiting.step.id.str();
  const auto slash = typed.rfind('/');
  if (typed == id) return true;
  const std::string_view step = std::string_view(id).substr(id.rfind('/') + 1);
  if (slash == std::string_view::npos) return typed == step;
  const std::string_view run = typed.substr(0, slash);
  const std::string& session = waiting.node.id.str();
  if (typed.substr(slash + 1) != step) return false;
  if (!run.empty() && run == waiting.name) return true;
  return run.size() >= kShortestPart && (session.starts_with(run) || session.ends_with(run));
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
    for (const ParkedStep& step : node.pending) all.push_back({node, step, row ? row->name : ""});
  }
  return all;
}

Result<PendingStep> find_pending(const std::vector<PendingStep>& all, const std::string& typed) {
  std::vector<PendingStep> fitting;
  std::ranges::copy_if(all, std::back_inserter(fitting),
                       [&](const PendingStep& each) { return names(typed, each); });
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
  const auto nodes = tree.nodes();
  if (nodes.empty() || nodes.front().status != SessionStatus::kAwaitingUser) return std::vector<ParkedStep>{};
  std::vector<ParkedStep> steps = result_of(stored.state).pending;
  for (const AgentNode& node : nodes) {
    if (node.id != stored.id) std::ranges::copy(node.pending, std::back_inserter(steps));
  }
  return steps;
}

}  // namespace praxis::app
