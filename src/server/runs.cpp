#include "server/runs.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "app/model_files.hpp"
#include "app/policy_check.hpp"
#include "app/reopen_run.hpp"
#include "app/run_agent.hpp"
#include "app/run_files.hpp"
#include "app/run_trees.hpp"
#include "app/tools_of_client.hpp"
#include "praxis/runtime/commands.hpp"
#include "server/handlers.hpp"
#include "server/problem.hpp"
#include "server/route_rights.hpp"

namespace praxis::server {
namespace {

constexpr const char* kRequest = "request_digest";
constexpr std::chrono::seconds kOwnerPatience{5};
constexpr const char* kQueuedReason = "queued: it begins when fewer turns are at work";

/// The limits of the agent, those among them lower that are lower in `wanted`; 0 is no limit.
Limits tightened(Limits limits, const Limits& wanted) {
  const auto lower = [](auto& limit, const auto& other) {
    const auto none = std::decay_t<decltype(limit)>{};
    if (other != none && (limit == none || other < limit)) limit = other;
  };
  lower(limits.max_steps, wanted.max_steps);
  lower(limits.max_tool_calls, wanted.max_tool_calls);
  lower(limits.max_tokens, wanted.max_tokens);
  lower(limits.max_usd.value, wanted.max_usd.value);
  lower(limits.timeout, wanted.timeout);
  lower(limits.max_wait, wanted.max_wait);
  return limits;
}

/// The limits of a run. Error `kInput` names the key.
Result<Limits> limits_of(const Limits& of_agent, const Json& wanted, const Principal& principal) {
  if (wanted.is_null()) return of_agent;
  Limits limits = of_agent;
  if (auto read = read_limits(wanted, limits); !read) return fail(read.error());
  return principal.sees_all && principal.rights.has(Right::kAdminister) ? limits
                                                                        : tightened(of_agent, limits);
}

/// Makes the agent of a branch; `step` is the last step of its open turn, 0 without one.
Status adjust(Agent& agent, const BranchChange& change, std::uint32_t step) {
  auto limits = limits_of(agent.spec().limits, change.limits, change.principal);
  if (!limits) return fail(limits.error());
  if (change.instructions) agent.instructions(*change.instructions);
  if (change.once) {
    limits->max_steps = step + 1;
    // Before all other rules: a call that another rule asks about must not wait for a person.
    PolicyRules rules = policy_rules_from_json(agent.spec().policy);
    rules.rules.push_back({.id = "once",
                           .kind = RuleKind::kDeny,
                           .tools = {"*"},
                           .reason = "calls are not run: one answer of the model is asked for"});
    agent.policy(std::move(rules));
  }
  agent.limits(*limits);
  return {};
}

/// A path could name any file of the server.
bool is_path(const std::string& agent) { return agent.ends_with(".toml") || agent.contains('/'); }

Error busy(const SessionId& run) {
  return conflict("run " + run.str() + " is in the middle of a turn; steer or enqueue reach it");
}

}  // namespace

Status check_model(const std::string& model) {
  if (app::model_files(model).empty()) return {};
  return fail(field_error("model", "must not be a script or cassette; an agent file may name one"));
}

Runs::Runs(std::shared_ptr<const app::Workspace> workspace, std::shared_ptr<Runtime> runtime,
           std::shared_ptr<Journal> journal, std::shared_ptr<Executor> executor, std::shared_ptr<Load> load,
           std::chrono::milliseconds patience)
    : workspace_(std::move(workspace)),
      runtime_(std::move(runtime)),
      journal_(std::move(journal)),
      executor_(std::move(executor)),
      load_(std::move(load)),
      acknowledgements_(std::make_shared<Acknowledgements>(runtime_, executor_, patience)),
      open_(std::make_shared<OpenRuns>(executor_)),
      lineages_(journal_) {}

// ---- creating and opening

SessionId Runs::id_of_key(const std::string& account, const std::string& key) {
  return SessionId("K" + digest_of(account + '\0' + key).hex(12));
}

Result<Agent> Runs::agent_of(const NewRun& wanted, const Principal& principal) const {
  if (auto allowed = check_model(wanted.model); !allowed) return fail(allowed.error());
  if (wanted.agent.empty() && !principal.agents.empty())
    return fail(field_error("agent", "must name an agent that this token may use"));
  if (auto may = wanted.tools.empty() ? Status() : check_right(principal, Right::kRegisterTools); !may)
    return fail(may.error());
  app::RunAgent choice{.model = wanted.model};
  if (!wanted.agent.empty()) {
    auto file = is_path(wanted.agent)  ? Result<std::optional<app::AgentChoice>>(std::nullopt)
                : wanted.may_be_preset ? app::find_agent_or_preset(*workspace_, wanted.agent)
                                       : app::find_agent_file(*workspace_, wanted.agent);
    if (!file) return fail(file.error());
    if (!*file || !principal.may_use(wanted.agent)) return fail(not_found("agent", wanted.agent));
    choice.file = (*file)->file;
    choice.project = (*file)->project;
  }
  auto agent = app::agent_for_run(choice, *workspace_, *runtime_);
  if (!agent) return agent;
  auto limits = limits_of(agent->spec().limits, wanted.limits, principal);
  if (!limits) return fail(limits.error());
  if (auto added = app::add_external_tools(*agent, wanted.tools); !added)
    return fail(Error(added.error()).set("field", "tools"));
  JsonObject metadata = agent->spec().metadata.get_object();
  // An agent file must not say so itself.
  for (const char* key : {kTenant, kStarter, kRequest, kConversation}) metadata.erase(key);
  if (!principal.sees_all) metadata[kTenant] = principal.tenant;
  metadata[kStarter] = principal.name;
  if (!wanted.idempotency.empty()) metadata[kRequest] = digest_of(wanted.request).hex();
  agent->limits(*limits).metadata(std::move(metadata));
  return agent;
}

Result<Session> Runs::new_session(NewRun& wanted, const SessionId& id, const Principal& principal) {
  const auto agent = agent_of(wanted, principal);
  if (!agent) return fail(agent.error());
  Conversation start;
  start.id = id.str();
  start.metadata = agent->spec().metadata;
  start.messages = std::move(wanted.before);
  if (auto prepared = wanted.prepare ? wanted.prepare(id) : Status(); !prepared)
    return fail(prepared.error());
  auto session = runtime_->create_session(*agent, std::move(start), principal.span);
  if (!session) return session;
  std::ignore = open_->keep(id, *session);
  note_belonging(id, {.tenant = principal.tenant, .agent = agent->spec().id, .starter = principal.name});
  return session;
}

void Runs::create(NewRun wanted, const Principal& principal, WhenCreated then) {
  const bool has_key = !wanted.idempotency.empty();
  const SessionId run = has_key ? id_of_key(principal.account(), wanted.idempotency)
                                : SessionId(runtime_->environment().new_id());
  std::unique_lock reading(reading_agents_);
  if (has_key && (open_->find(run) || journal_->session(run))) {
    reading.unlock();
    return find_again(run, wanted, std::move(then));
  }
  const auto turn = std::make_shared<QueuedTurn>();
  auto slot = begin_or_queue(principal, turn);
  auto session = slot ? new_session(wanted, run, principal) : Result<Session>(fail(slot.error()));
  if (!session) {
    reading.unlock();
    return then(fail(session.error()));
  }
  Acknowledgements::Then begun = [then = std::move(then), run](const Status& outcome) mutable {
    then(outcome ? Result<Created>(Created{run, true}) : fail(outcome.error()));
  };
  const auto ticket = acknowledgements_->expect(run, begun);  // before others with the key find the run
  reading.unlock();
  if (ticket == 0) return begun(fail(busy(run)));
  Message message = text_message(Role::kUser, std::move(wanted.prompt));
  if (!wanted.content.empty()) message.parts = std::move(wanted.content);
  message.metadata = std::move(wanted.metadata);
  const bool waits = !*slot;
  if (waits) hold(run, *session);
  if (!waits) turn->give(*std::move(slot));
  session->send(std::move(message), std::move(wanted.schema),
                when_done(run, turn, std::move(wanted.done), ticket));
  if (!waits) return;
  turn->when_given([weak = weak_from_this(), run] {
    if (const auto self = weak.lock()) self->let_go(run);
  });
}

// ---- the queue

/// The slot of a turn; null if it is given to `turn` later.
Result<Load::Slot> Runs::begin_or_queue(const Principal& principal, const std::weak_ptr<QueuedTurn>& turn) {
  // Without a lock of the load, and not on the strand of the turn that ends.
  return begin_turn(principal, [turn, executor = executor_](const Load::Slot& slot) {
    executor->post_blocking([turn, slot] {
      if (const auto waiting = turn.lock()) waiting->give(slot);
    });
  });
}

void Runs::hold(const SessionId& run, Session session) {
  {
    const std::lock_guard lock(mutex_);
    queued_.insert(run);
  }
  session.pause(kQueuedReason);
}

void Runs::let_go(const SessionId& run) {
  {
    const std::lock_guard lock(mutex_);
    if (queued_.erase(run) == 0) return;
  }
  if (auto session = open_->find(run)) session->unpause();
}

bool Runs::is_queued(const SessionId& run) const {
  const std::lock_guard lock(mutex_);
  return queued_.contains(run);
}

std::size_t Runs::queued() const {
  const std::lock_guard lock(mutex_);
  return queued_.size();
}

Status Runs::check_commands(const Commands& commands) const {
  for (const Command& command : commands) {
    if (command.verb == CommandVerb::kUnpause && is_queued(command.target))
      return fail(conflict("run " + command.target.str() + " begins when fewer turns are at work"));
  }
  return {};
}

/// Gives the run that an earlier request with the key made, or is making now.
void Runs::find_again(const SessionId& id, const NewRun& wanted, WhenCreated then) {
  Acknowledgements::Then begun = [then = std::move(then), self = shared_from_this(), id,
                                  request = wanted.request](const Status& outcome) mutable {
    then(outcome ? self->found_again(id, request) : fail(outcome.error()));
  };
  if (!acknowledgements_->join(id, begun)) begun({});
}

Result<Created> Runs::found_again(const SessionId& id, const std::string& request) const {
  const auto existing = stored(id);
  if (!existing) {
    return fail(make_error(ErrorCode::kJournal, ErrorKind::kOverloaded,
                           "run " + id.str() + " is not in the journal yet: " + existing.error().message));
  }
  if (json_string(existing->state.agent->metadata, kRequest) != digest_of(request).hex()) {
    return fail(conflict("this Idempotency-Key was used for another request; run " + id.str()));
  }
  return Created{id, false};
}

Result<Agent> Runs::described(const std::string& name) {
  if (is_path(name)) return fail(not_found("agent", name));
  const std::lock_guard reading(reading_agents_);
  const auto file = app::find_agent_file(*workspace_, name);
  if (!file) return fail(file.error());
  if (!*file) return fail(not_found("agent", name));
  return app::agent_named(*workspace_, name);
}

Result<OpenRuns::Use> Runs::open(const SessionId& run, const BranchChange& change, Opening opening) {
  if (auto used = open_->use(run)) return *std::move(used);
  auto read = stored(run);
  if (!read) return fail(read.error());
  if (json_bool(read->state.agent->metadata, kConversation))
    return fail(conflict("run " + run.str() +
                         " holds a conversation and takes no turn; name the conversation in "
                         "POST /v1/responses"));
  const std::lock_guard reading(reading_agents_);
  if (auto used = open_->use(run)) return *std::move(used);
  app::ReopenOptions options;
  options.stays_here = true;
  options.unfinished = opening == Opening::kUnfinished;
  options.model = change.model;
  const std::uint32_t step = read->state.turn ? read->state.turn->step : 0;
  options.adjust = [&](Agent& agent) { return adjust(agent, change, step); };
  auto session = app::reopen_run_in(runtime_, *read, *workspace_, options);
  if (!session) return fail(session.error());
  return open_->keep(run, *session);
}

// A run that waits for an approver stays open, so that a decision continues it at once. The last handle is
// dropped on a worker, because this is called by the session itself.
Session::TurnDone Runs::when_done(const SessionId& run, Load::Slot slot,
                                  std::function<void(const Result<AgentResult>&)> also,
                                  Acknowledgements::Ticket ticket) {
  return [weak = weak_from_this(), run, slot = std::move(slot), also = std::move(also),
          ticket](const Result<AgentResult>& result) mutable {
    slot.reset();
    const auto self = weak.lock();
    if (self && !result) self->acknowledgements_->fail_with(run, ticket, result.error());
    if (also) also(result);
    if (self) self->forget_queued(run);
    if (!self || (result && !result->pending.empty())) return;
    self->executor_->post_blocking([open = self->open_, run] { open->close_if_idle(run); });
  };
}

// ---- acting

Result<Load::Slot> Runs::begin_turn(const Principal& principal, Load::WhenFree when_free) {
  return load_->begin_turn(principal.account(),
                           load_->bounds_waiting() ? waiting_for(principal) : Load::Waiting{},
                           std::move(when_free));
}

void Runs::forget_queued(const SessionId& run) {
  const std::lock_guard lock(mutex_);
  queued_.erase(run);
}

Load::Waiting Runs::waiting_for(const Principal& principal) {
  std::vector<SessionId> waiting;
  for (const auto& [id, session] : open_->all()) {
    if (session.status() == SessionStatus::kAwaitingUser) waiting.push_back(id);
  }
  const auto own = std::ranges::count_if(
      waiting, [&](const SessionId& id) { return belonging_of(id).tenant == principal.tenant; });
  return {static_cast<std::uint64_t>(own), waiting.size()};
}

void Runs::send(const SessionId& run, Load::Slot slot, Message message, Json schema, WhenBegun then,
                std::function<void(const Result<AgentResult>&)> done, const BranchChange& change) {
  auto used = open(run, change);
  if (!used) return then(fail(used.error()));
  Session& session = **used;
  const SessionStatus status = session.status();
  if (status == SessionStatus::kRunning || status == SessionStatus::kAwaitingUser ||
      status == SessionStatus::kModified)
    return then(fail(busy(run)));
  const auto ticket = acknowledgements_->expect(run, then);
  if (ticket == 0) return then(fail(busy(run)));
  session.send(std::move(message), std::move(schema),
               when_done(run, std::move(slot), std::move(done), ticket));
}

Status Runs::resume(const SessionId& run, const BranchChange& change) {
  const auto read = stored(run);
  if (!read) return fail(read.error());
  if (open_->find(run) && read->state.turn) return {};  // it is working, or waits
  const bool is_late = !read->state.turn && read->state.queue.empty() && !read->state.steering.empty();
  if (!read->state.turn && read->state.queue.empty() && !is_late)
    return fail(conflict("run " + run.str() + " has no turn to resume"));
  // Another process may have ended an open turn meanwhile.
  auto used = open(run, change, is_late ? Opening::kAny : Opening::kUnfinished);
  if (!used) return fail(used.error());
  Session& session = **used;
  if (!is_late) {
    session.resume(when_done(run));
    return {};
  }
  // A message for the next step of a turn that had just ended.
  post([turn = session.run(), done = when_done(run)]() mutable { done(turn.report()); });
  return {};
}

Status Runs::rewind(const SessionId& run, const TurnId& turn) {
  if (auto session = open_->find(run)) return session->rewind(turn);
  auto done = rewind_session(*journal_, runtime_->environment(), run, turn);
  if (done || done.error().kind() != ErrorKind::kLeaseHeld) return done;
  auto used = open(run);  // waits for a process that is just letting go of it
  return used ? (*used)->rewind(turn) : Status(fail(used.error()));
}

/// Closes a run that is open here. `before`: what an error tells the client to interrupt it for.
Status Runs::release(const SessionId& run, const char* before) {
  auto session = open_->find(run);
  if (!session) return {};
  const SessionStatus status = session->status();
  const bool is_open = status == SessionStatus::kRunning || status == SessionStatus::kAwaitingUser;
  if (is_open || !session->close())
    return fail(conflict("run " + run.str() + " is not finished; interrupt it before you " + before));
  open_->forget(run);
  return {};
}

Result<std::unique_ptr<app::HeldRun>> Runs::hold_finished(const SessionId& run) {
  constexpr const char* kBefore = "take its files back";
  const SessionId root = lineages_.root_of(run);
  if (is_queued(root)) return fail(conflict("run " + root.str() + " is about to begin a turn"));
  if (auto released = release(root, kBefore); !released) return fail(released.error());
  auto held = std::make_unique<app::HeldRun>(journal_, root);
  // `open` waits for a process that is just letting go of it.
  if (!held->status() && held->status().error().kind() == ErrorKind::kLeaseHeld && open(root) &&
      release(root, kBefore))
    held = std::make_unique<app::HeldRun>(journal_, root);
  if (auto status = held->status(); !status) return fail(status.error());
  return held;
}

Result<std::size_t> Runs::remove(const SessionId& run) {
  if (const SessionId root = lineages_.root_of(run); root != run)
    return fail(conflict(run.str() + " is a sub-agent; it goes with its run " + root.str()));
  constexpr const char* kBefore = "delete it";
  if (auto released = release(run, kBefore); !released) return fail(released.error());
  auto sessions = journal_->remove(run);
  if (!sessions && sessions.error().kind() == ErrorKind::kLeaseHeld && open(run) && release(run, kBefore))
    sessions = journal_->remove(run);  // `open` has waited for the process that was just letting go of it
  if (!sessions) return sessions;
  {
    const std::lock_guard lock(mutex_);
    belongings_.erase(run);
  }
  sweep_soon();
  return sessions;
}

/// One sweep for all runs that are removed until it begins.
void Runs::sweep_soon() {
  if (sweeps_.exchange(true)) return;
  post([self = shared_from_this()] {
    self->sweeps_ = false;
    // What an error leaves, the next sweep finds.
    std::ignore = self->journal_->sweep();
    std::ignore = app::forget_removed_runs(*self->workspace_, *self->journal_);
  });
}

Status Runs::decide(const SessionId& session, const std::string& step, Approval approval,
                    const Principal& principal) {
  const SessionId root = lineages_.root_of(session);
  if (auto may = may_decide(root, session, step, approval, principal); !may) return may;
  const Author author = author_of(principal);
  const ParkId park(session == root ? step : session.str() + "/" + step);
  const bool was_open = open_->find(root).has_value();
  auto opened = open(root, {}, Opening::kUnfinished);
  if (opened) {
    if (auto decided = (*opened)->decide(park, std::move(approval), author); !decided) return decided;
    if (!was_open) (*opened)->resume(when_done(root));
    return {};
  }
  if (opened.error().kind() != ErrorKind::kLeaseHeld) return fail(opened.error());
  const auto delivery =
      deliver(*journal_, runtime_->environment(),
              StepApproval{session, ParkId(step), std::move(approval), author}, kOwnerPatience);
  if (!delivery) return fail(delivery.error());
  if (const auto* refused = std::get_if<Refused>(&*delivery)) return fail(ErrorCode::kInput, refused->reason);
  return {};
}

std::vector<SessionId> Runs::left(const Warn& warn) const {
  app::RunTrees trees(journal_, app::RunTrees::Roots::kBusy);
  if (auto read = trees.refresh(); !read) return {};
  for (const AgentNode& node : trees.nodes()) {
    if (!node.parent.empty() || node.status != SessionStatus::kError) continue;
    // Such as a run of a newer program, which a server that knows it can continue.
    const auto read = stored(node.id);
    if (read || read.error().retriable || read.error().kind() == ErrorKind::kNotFound) continue;
    if (warn) warn("run " + node.id.str() + " is left to another server: " + read.error().message);
  }
  return trees.deserted().value_or(std::vector<SessionId>{});
}

void Runs::take_up(const Warn& warn) {
  for (const SessionId& run : left(warn)) {
    auto resumed = resume(run);
    if (resumed) continue;
    const ErrorKind why = resumed.error().kind();
    if (why == ErrorKind::kLeaseHeld || why == ErrorKind::kConflict) continue;  // another process was faster
    warn("run " + run.str() + " was left and cannot continue: " + resumed.error().message);
  }
}

// ---- finding

Result<app::StoredSession> Runs::stored(const SessionId& session) const {
  auto read = app::read_session(journal_, session);
  if (!read && read.error().kind() == ErrorKind::kNotFound) return fail(not_found("run", session.str()));
  return read;
}

Result<SessionId> Runs::find(const std::string& name, const Principal& principal) {
  auto id = find_session(*journal_, name);
  if (!id || !may_see(principal, lineages_.root_of(*id))) return fail(not_found("run", name));
  return id;
}

}  // namespace praxis::server
