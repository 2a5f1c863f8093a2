// To whom a run belongs: who may see it, and decide its steps.
#include <utility>

#include "app/tools_of_client.hpp"
#include "server/handlers.hpp"
#include "server/problem.hpp"
#include "server/route_rights.hpp"
#include "server/runs.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kMostRunsKept = 100'000;

bool is_branch(const std::vector<StoredRecord>& records) {
  const auto* const created =
      records.empty() ? nullptr : std::get_if<records::SessionCreated>(&records.front().record.body);
  return created != nullptr && !created->forked_from.empty();
}

}  // namespace

Status Runs::may_decide(const SessionId& root, const SessionId& session, const std::string& step,
                        const Approval& approval, const Principal& principal) {
  const Status has_right = check_right(principal, Right::kApprove);
  if (has_right && !principal.four_eyes) return {};
  const auto read = stored(session);
  if (!read) return fail(read.error());
  const auto found = read->state.parked.find(ParkId(step));
  const bool asks = found != read->state.parked.end() && found->second.kind == ParkKind::kQuestion;
  if (asks && app::external_tools_of(*read->state.agent).contains(found->second.tool)) return {};
  if (!has_right) return has_right;
  // A denial lets nothing happen, and the answer to a question approves nothing.
  if (asks || approval.verb == ApprovalVerb::kReject) return {};
  const Belonging run = belonging_of(root);
  if (run.is_branch) {
    return fail(make_error(ErrorCode::kPolicy,
                           "four_eyes: a branch does not say who made it; decide the step of the run that it "
                           "branched off from")
                    .set("right", "four_eyes"));
  }
  if (run.starter != principal.name) return {};
  return fail(make_error(ErrorCode::kPolicy, "four_eyes: \"" + principal.name +
                                                 "\" started this run, so another principal must approve "
                                                 "its steps")
                  .set("right", "four_eyes"));
}

Result<SessionId> Runs::create_conversation(const std::string& fact, const Principal& principal) {
  AgentSpec holder;
  holder.id = "conversation";
  holder.plan = JsonArray{JsonObject{{"id", "none"}, {"fail", "a conversation takes no turn"}}};
  JsonObject metadata{{kStarter, principal.name}, {kConversation, true}};
  if (!principal.sees_all) metadata[kTenant] = principal.tenant;
  holder.metadata = std::move(metadata);
  auto session = runtime_->create_session(Agent(std::move(holder)), nullptr, principal.span);
  if (!session) return fail(session.error());
  SessionId run = session->session_id();
  // The first record shares one append with the annotation.
  auto noted = runtime_->command({Command{CommandVerb::kAnnotate, run, fact, author_of(principal)}});
  auto closed = session->close();
  if (!noted || !closed) return fail(noted ? closed.error() : noted.error());
  return run;
}

bool Runs::may_see_conversation(const Principal& principal, const SessionId& run) {
  if (run.empty() || lineages_.root_of(run) != run) return false;
  const Belonging holder = belonging_of(run);
  return holder.is_conversation && (principal.sees_all || holder.tenant == principal.tenant);
}

bool Runs::may_see(const Principal& principal, const SessionId& root) {
  if (principal.sees_all && principal.agents.empty()) return true;
  if (root.empty()) return false;
  const Belonging run = belonging_of(root);
  return (principal.sees_all || run.tenant == principal.tenant) && principal.may_use(run.agent);
}

Runs::Belonging Runs::belonging_of(const SessionId& root) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = belongings_.find(root);
    if (known != belongings_.end()) return known->second;
  }
  const auto read = stored(root);
  if (!read) return {};
  const AgentSpec& agent = *read->state.agent;
  Belonging belonging{json_string(agent.metadata, kTenant), agent.id, json_string(agent.metadata, kStarter),
                      is_branch(read->records), json_bool(agent.metadata, kConversation)};
  note_belonging(root, belonging);
  return belonging;
}

void Runs::note_belonging(const SessionId& root, Belonging belonging) {
  const std::lock_guard lock(mutex_);
  if (belongings_.size() > kMostRunsKept) belongings_.clear();
  belongings_[root] = std::move(belonging);
}

}  // namespace praxis::server
