#include "runtime/sessions.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/worker_pool.hpp"
#include "domain/trace_state.hpp"
#include "planners/guarded_planner.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/planners/make_planner.hpp"
#include "praxis/planners/model_planner.hpp"
#include "praxis/planners/reflect_planner.hpp"
#include "runtime/content_filters.hpp"
#include "runtime/input_checks.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {
namespace {

/// What a session needs in addition to its description.
struct Equipment {
  std::shared_ptr<const Planner> planner;
  std::shared_ptr<Model> model;  ///< null for an agent that only follows a plan
  AgentSpecPtr spec;             ///< the description, completed with the profile of the model
};

ModelProfile profile_of(const Model& model) {
  constexpr std::int64_t kTokens = 10'000;  // below the size from which some models charge more
  const auto price_of_million = [&](std::int64_t cached) {
    Usage usage;
    usage.input = kTokens;
    usage.cache_read = cached;
    return MicroUsd{model.price(usage).value * (1'000'000 / kTokens)};
  };
  const ModelCapabilities capabilities = model.capabilities();
  return {capabilities.context_window, capabilities.compaction, price_of_million(0),
          price_of_million(kTokens), capabilities.counting};
}

AgentSpecPtr with_metadata(const AgentSpecPtr& spec, Json metadata) {
  auto changed = std::make_shared<AgentSpec>(*spec);
  changed->metadata = std::move(metadata);
  return changed;
}

/// The list of an agent with tool sources is compared with them, and recorded, before the next model call.
AgentSpecPtr with_tools(const AgentSpecPtr& spec, const std::vector<ToolSpec>& tools) {
  auto changed = std::make_shared<AgentSpec>(*spec);
  changed->tools = tools;
  return changed;
}

/// The planner of a description: the host's strategies, or that of the plan.
Result<std::shared_ptr<const Planner>> planner_of(const AgentDescription& description) {
  if (!description.planner && !description.reflector) return make_planner(description.spec);
  std::shared_ptr<const Planner> planner = description.planner;
  if (!planner) planner = std::make_shared<const ModelPlanner>();
  if (description.reflector)
    planner = std::make_shared<const ReflectPlanner>(std::move(planner), description.reflector);
  return std::make_shared<const GuardedPlanner>(std::move(planner), host_plan_name(description.spec));
}

Result<Equipment> equip(Services& services, const std::shared_ptr<const AgentDescription>& description) {
  if (!description->status) return fail(description->status.error());
  const AgentSpec& spec = description->spec;
  if (needs_model(spec) && spec.model.empty()) {
    return fail(ErrorCode::kInput, "agent \"" + spec.id + "\" has neither a model nor a written plan");
  }
  if (auto usable = check_output_schema(spec.options.output_schema); !usable) return fail(usable.error());
  auto planner = planner_of(*description);
  if (!planner) return fail(planner.error());
  auto model = services.model_for(*description);
  if (!model) return fail(model.error());
  AgentSpecPtr complete = services.specs.completed(
      AgentSpecPtr(description, &spec), *model ? profile_of(**model) : ModelProfile{},
      services.options.instructions, services.options.network.patience);
  return Equipment{*std::move(planner), *std::move(model), std::move(complete)};
}

/// A sub-agent stays within the permissions of the agents above it.
AgentSpecPtr with_bounds(const AgentSpecPtr& spec, const Origin& origin) {
  if (!origin.above) return spec;
  auto changed = std::make_shared<AgentSpec>(*spec);
  changed->bounds = JsonArray(origin.scope->permissions.begin(), origin.scope->permissions.end());
  return changed;
}

/// Opened without its parent, a sub-agent keeps the bounds that the agents above set.
AgentSpecPtr with_bounds_of(const AgentSpecPtr& spec, const AgentSpec& recorded) {
  if (recorded.bounds.is_null()) return spec;
  auto changed = std::make_shared<AgentSpec>(*spec);
  changed->bounds = recorded.bounds;
  return changed;
}

/// Returns the actor of an active session, or null, for a session at `origin`. When a tree gives up in this
/// process, its sub-agents and handlers end a moment later, and the tree may be resumed before. The
/// sub-agents of the old tree must not work for the new one: they end now. The handlers of the old tree must
/// not reach the sub-agents of the new one: error `kCancelled`.
Result<std::shared_ptr<SessionActor>> active_session(Services& services, const SessionId& session,
                                                     const Origin& origin) {
  if (origin.above && !origin.above->usable())
    return fail(ErrorCode::kCancelled, "session " + origin.above->lease().session.str() +
                                           " has stopped; nothing more can be done on its behalf");
  auto live = services.live.find(session);
  if (!live || !origin.above || live->above() == nullptr || live->above() == origin.above.get()) return live;
  live->abandon();
  live->query([](const State&) { return true; });  // runs after `abandon`, which releases the lease
  return nullptr;
}

/// Acquires the lease, with retries for half a second: another holder may be about to release it, after
/// closing the session or deciding one of its steps, or because its tree gave up.
Result<Lease> acquire_soon(Services& services, const SessionId& session, bool force, const Origin& origin) {
  constexpr int kAttempts = 50;
  constexpr std::chrono::milliseconds kMoment{10};
  Journal& journal = *services.options.journal;
  auto lease = journal.acquire(session, force);
  for (int i = 1; i < kAttempts && !lease && lease.error().kind() == ErrorKind::kLeaseHeld; ++i) {
    std::this_thread::sleep_for(kMoment);
    if (auto active = active_session(services, session, origin); !active) return fail(active.error());
    lease = journal.acquire(session, force);
  }
  return lease;
}

/// Refuses a session without anything to continue where only such ones are opened.
Status check_opening(const State& state, Opening opening) {
  if (opening != Opening::kUnfinished || state.turn || !state.queue.empty()) return {};
  return fail(ErrorCode::kInput, ErrorKind::kConflict,
              "session " + state.id.str() + " has neither a turn in progress nor queued messages");
}

/// Takes the leases of all sessions below one that was taken by force. Otherwise their owner, which may be
/// hung, could continue them, and this process could not.
Status take_below(Services& services, const SessionId& session) {
  Journal& journal = *services.options.journal;
  const auto row = journal.session(session);
  if (!row) return fail(row.error());
  if (row->entries == 0) return {};  // created, but without records
  const auto records = read_records(journal, session);
  if (!records) return fail(records.error());
  for (const StoredRecord& stored : *records) {
    const auto* spawned = std::get_if<records::ChildSpawned>(&stored.record.body);
    if (spawned == nullptr || services.live.find(spawned->child)) continue;
    const auto lease = journal.acquire(spawned->child, true);
    if (!lease && lease.error().kind() == ErrorKind::kNotFound) continue;  // recorded, but not created yet
    if (!lease) return fail(lease.error());
    journal.release(*lease);
    if (auto taken = take_below(services, spawned->child); !taken) return taken;
  }
  return {};
}

/// Returns 64 bits of a digest of the session's id.
std::uint64_t number_of(const SessionId& id) {
  const Digest digest = digest_of(id.str());
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) number = number << 8U | digest.bytes[i];
  return number;
}

records::SessionCreated birth_record(Services& services, const Birth& birth, const Origin& origin,
                                     AgentSpecPtr spec) {
  records::SessionCreated created;
  created.session = birth.id.empty() ? SessionId{services.options.environment->new_id()} : birth.id;
  created.seed = services.options.environment->random();
  created.agent = birth.metadata.is_null() ? std::move(spec) : with_metadata(spec, birth.metadata);
  if (!origin.above && birth.metadata.is_null()) created.prepared = services.specs.prepared(created.agent);
  if (origin.above) {
    created.parent = origin.above->lease().session;
    const ParentLink::Place above = origin.above->place();
    created.depth = above.depth + 1;
    created.path = above.path + "/" + created.agent->id;
    created.trace = span_below(origin.scope->trace, created.session.str(), 0);
  }
  if (!origin.above && !birth.caller.trace.empty()) {
    created.trace = span_below(birth.caller, created.session.str(), 0);
    created.trace.state = trace_state_from(birth.caller.state);  // a host may have given anything
  }
  // A session below one from an older version starts a trace, as a root does.
  if (created.trace.trace.empty()) created.trace = new_trace(created.seed, number_of(created.session));
  return created;
}

/// Without `make_shared`: a `weak_ptr` in `LiveSessions` would then keep the memory of the whole actor.
std::shared_ptr<SessionActor> make_actor(const std::shared_ptr<Services>& services,
                                         const std::shared_ptr<const AgentDescription>& agent,
                                         Equipment equipment, Lease lease, State state, Origin origin) {
  if (!origin.scope) origin.scope = services->root_scope;
  return std::shared_ptr<SessionActor>(new SessionActor(services, agent, std::move(equipment.model),
                                                        std::move(equipment.planner), std::move(lease),
                                                        std::move(state), std::move(origin)));
}

}  // namespace

void LiveSessions::add(const std::shared_ptr<SessionActor>& actor) {
  const std::lock_guard lock(mutex_);
  sessions_[actor->id()] = actor;
  if (sessions_.size() < forget_at_) return;
  forget_gone();
  forget_at_ = std::max(kForgetAt, 2 * sessions_.size());
}

void LiveSessions::forget_gone() {
  std::erase_if(sessions_, [](const auto& entry) { return entry.second.expired(); });
}

std::shared_ptr<SessionActor> LiveSessions::find(const SessionId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(id);
  auto actor = found == sessions_.end() ? nullptr : found->second.lock();
  return actor && actor->usable() ? actor : nullptr;
}

std::shared_ptr<SessionActor> LiveSessions::find_soon(const SessionId& id) {
  constexpr std::chrono::milliseconds kSoon{500};
  {
    std::unique_lock lock(mutex_);
    if (announced_.contains(id)) {
      const WaitForTasks wait;
      arrived_.wait_for(lock, kSoon, [&] { return !announced_.contains(id); });
    }
  }
  return find(id);
}

LiveSessions::Announcement::Announcement(LiveSessions& sessions, SessionId id)
    : sessions_(&sessions), id_(std::move(id)) {
  const std::lock_guard lock(sessions_->mutex_);
  sessions_->announced_.insert(id_);
}

LiveSessions::Announcement::~Announcement() {
  if (sessions_ == nullptr) return;
  {
    const std::lock_guard lock(sessions_->mutex_);
    sessions_->announced_.erase(id_);
  }
  sessions_->arrived_.notify_all();
}

std::vector<std::shared_ptr<SessionActor>> LiveSessions::all() {
  std::vector<std::shared_ptr<SessionActor>> actors;
  const std::lock_guard lock(mutex_);
  forget_gone();
  for (const auto& [id, weak] : sessions_) {
    if (auto actor = weak.lock()) actors.push_back(std::move(actor));
  }
  return actors;
}

bool LiveSessions::any() {
  const std::lock_guard lock(mutex_);
  while (!sessions_.empty() && sessions_.begin()->second.expired()) sessions_.erase(sessions_.begin());
  return !sessions_.empty();
}

Result<Birth> birth_of(Services& services, Conversation start) {
  constexpr std::size_t kLongestId = 64;
  Birth birth{SessionId{std::move(start.id)}, std::move(start.metadata), {}};
  const std::string& id = birth.id.str();
  const bool usable = id.size() <= kLongestId && id != "last" && std::ranges::all_of(id, [](char c) {
                        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                               c == '.' || c == '_' || c == '-';
                      });
  if (!usable)
    return fail(ErrorCode::kInput, "\"" + repair_utf8(id) +
                                       "\" cannot be the id of a session: it has 1 to 64 letters, digits, "
                                       "\".\", \"_\" or \"-\", and is not \"last\"");
  if (!id.empty()) {
    const auto row = services.options.journal->session(birth.id);
    if (row || services.live.find(birth.id))
      return fail(ErrorCode::kInput, ErrorKind::kExists, "there is already a session " + id);
  }
  const Normalised checked = normalise(start.messages);
  if (!checked.repairs.empty()) {
    const Repair& first = checked.repairs.front();
    return fail(ErrorCode::kInput,
                "the messages are not a valid conversation: " + std::string(to_string(first.kind)) +
                    " in message \"" + first.message.str() + "\"");
  }
  for (Message& message : start.messages)
    birth.history.push_back(std::make_shared<const Message>(std::move(message)));
  return birth;
}

/// Applies the content filters at `kPrompt` to a conversation that a root begins with. Returns their
/// decisions for the log. Error `kPolicy`: a message is denied.
static Result<std::vector<records::Decided>> filter_history(const AgentSpec& agent,
                                                            std::vector<MessagePtr>& history,
                                                            const Origin& origin) {
  std::vector<records::Decided> decisions;
  // What an agent below begins with was filtered when it came into the session above.
  const auto filters = origin.above || history.empty() ? nullptr : filters::filters_of(agent);
  if (!filters) return decisions;
  for (MessagePtr& message : history) {
    Message copy = *message;
    auto decided = filter_prompt(*filters, copy);
    if (!decided) continue;
    if (decided->verb == ApprovalVerb::kReject)
      return fail(ErrorCode::kPolicy, ErrorKind::kContentPolicy, decided->text);
    message = std::make_shared<const Message>(std::move(copy));
    decisions.push_back(*std::move(decided));
  }
  return decisions;
}

Result<std::shared_ptr<SessionActor>> create_session(const std::shared_ptr<Services>& services,
                                                     const std::shared_ptr<const AgentDescription>& agent,
                                                     Birth birth, Origin origin) {
  if (auto accepts = services->accepts_work(); !accepts) return fail(accepts.error());
  auto equipment = equip(*services, agent);
  if (!equipment) return fail(equipment.error());
  const RuntimeOptions& options = services->options;
  records::SessionCreated created =
      birth_record(*services, birth, origin, with_bounds(equipment->spec, origin));
  auto filtered = filter_history(*created.agent, birth.history, origin);
  if (!filtered) return fail(std::move(filtered.error()));
  if (auto left = active_session(*services, created.session, origin); !left) return fail(left.error());
  auto lease = options.journal->create(created.session, options.environment->now());
  if (!lease && lease.error().kind() == ErrorKind::kExists && !birth.id.empty())
    lease = acquire_soon(*services, created.session, false,
                         origin);  // created before a crash or fault, but without records
  if (!lease) return fail(lease.error());

  State fresh;
  fresh.id = created.session;
  auto actor = make_actor(services, agent, *std::move(equipment), *std::move(lease), std::move(fresh),
                          std::move(origin));
  services->live.add(actor);
  services->inbox_watcher->watch();
  if (birth.history.empty()) {  // written with the first input
    actor->begin(std::move(created));
    return actor;
  }
  auto durable = actor->submit([&](const State&) -> Result<std::vector<RecordBody>> {
    std::vector<RecordBody> records;
    records.emplace_back(std::move(created));
    for (records::Decided& decided : *filtered) records.emplace_back(std::move(decided));
    for (MessagePtr& message : birth.history)
      records.emplace_back(records::MessageAppended{std::move(message), MessageSource::kImport});
    return records;
  });
  if (!durable) return fail(durable.error());
  return actor;
}

Result<std::shared_ptr<SessionActor>> open_session(const std::shared_ptr<Services>& services,
                                                   const SessionId& session,
                                                   const std::shared_ptr<const AgentDescription>& agent,
                                                   Opening opening, Origin origin) {
  if (auto accepts = services->accepts_work(); !accepts) return fail(accepts.error());
  auto active = active_session(*services, session, origin);
  if (!active || (*active && opening != Opening::kUnfinished)) return active;
  if (*active) {
    const auto wanted = (*active)->query([&](const State& state) { return check_opening(state, opening); });
    return wanted ? active : fail(wanted.error());
  }
  auto equipment = equip(*services, agent);
  if (!equipment) return fail(equipment.error());

  Journal& journal = *services->options.journal;
  const bool force = opening == Opening::kByForce;
  auto lease = acquire_soon(*services, session, force, origin);
  if (!lease) return fail(lease.error());
  if (auto taken = force ? take_below(*services, session) : Status{}; !taken) {
    journal.release(*lease);
    return fail(taken.error());
  }
  auto records = read_records(journal, session);
  auto state = records ? fold(*records) : Result<State>(fail(records.error()));
  if (auto wanted = state ? check_opening(*state, opening) : Status{}; !wanted) state = fail(wanted.error());
  if (!state) {
    journal.release(*lease);
    return fail(state.error());
  }
  AgentSpecPtr spec =
      origin.above ? with_bounds(equipment->spec, origin) : with_bounds_of(equipment->spec, *state->agent);
  if (spec->metadata.is_null() && !state->agent->metadata.is_null()) {
    spec = with_metadata(spec, state->agent->metadata);
  }
  if (!agent->tool_sources.empty()) spec = with_tools(spec, state->agent->tools);
  const bool changed = to_canonical_json(to_json(*state->agent)) != to_canonical_json(to_json(*spec));
  if (!changed) state->agent = spec;  // share one copy
  auto actor = make_actor(services, agent, *std::move(equipment), *std::move(lease), *std::move(state),
                          std::move(origin));
  services->live.add(actor);
  actor->appear(records->front().record.time, records->back().record.time);
  services->inbox_watcher->watch(session);
  if (!changed) return actor;
  auto durable = actor->submit([&](const State&) -> Result<std::vector<RecordBody>> {
    return std::vector<RecordBody>{
        records::Intervened{CommandVerb::kSetAgent, {}, std::move(spec), services->options.principal}};
  });
  if (!durable) return fail(durable.error());
  return actor;
}

}  // namespace praxis
