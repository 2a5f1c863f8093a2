#include "praxis/runtime/team.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "driver/nothing_to_resume.hpp"
#include "logs/read_state.hpp"
#include "praxis/runtime/runtime.hpp"
#include "runtime/handoff.hpp"
#include "runtime/observers.hpp"
#include "runtime/run_control.hpp"
#include "runtime/session_actor.hpp"

namespace praxis {
namespace {

constexpr int kMaxHandoffs = 8;

/// Rebuilds a strategy from its recorded form. One that the form does not suffice for refuses every message.
Strategy strategy_from(const Json& form) {
  const Json& agents = json_at(form, "agents");
  if (json_text(form, "kind") == "role" && agents.is_object()) {
    std::map<std::string, std::string> roles;
    for (const auto& [role, id] : agents.get_object()) roles[std::string(role)] = to_plain_text(id);
    return route_by_role(std::move(roles));
  }
  if (json_text(form, "kind") == "chain" && agents.is_array()) {
    std::vector<std::string> ids;
    for (const Json& id : agents.get_array()) ids.push_back(to_plain_text(id));
    return route_chain(std::move(ids));
  }
  if (form.is_null()) return {};
  Strategy::Route refuse = [](const Routing&) {
    return fail(ErrorCode::kInput,
                "the strategy of this team is not in its log: set it with Team::route_message, or an empty "
                "one for the current agent to answer");
  };
  return {std::move(refuse), form};
}

}  // namespace

struct Team::Parts {
  explicit Parts(Runtime& home) : runtime(home) {}

  Runtime& runtime;
  std::shared_ptr<Runtime> kept;  ///< the same runtime, kept alive; empty when the runtime owns the team
  Observers observers;

  std::mutex sending;  ///< held while a message is being answered
  mutable std::mutex mutex;
  std::vector<Agent> agents;
  std::string current;
  Strategy strategy;
  std::optional<Session> session;
  std::string seated;  ///< id of the agent that runs the session
  std::vector<Subscription> subscriptions;

  const Agent* find(const std::string& id) const {
    const auto found = std::ranges::find(agents, id, [](const Agent& a) { return a.spec().id; });
    return found == agents.end() ? nullptr : &*found;
  }

  Result<Agent> known(const std::string& id) const {
    const std::lock_guard lock(mutex);
    if (const Agent* agent = find(id)) return *agent;
    std::string have;
    for (const Agent& agent : agents) have += (have.empty() ? "" : ", ") + agent.spec().id;
    return fail(ErrorCode::kInput, "no agent is called \"" + id + "\"; known agents: " + have);
  }

  Result<Session> seat(const Agent& agent);
  Result<AgentResult> answer(const std::string& id, Message message, std::stop_token stop);
  Result<AgentResult> wait(const std::shared_ptr<EventQueue>& turn, std::stop_token stop) const;
  Result<std::vector<std::string>> route(const std::string& text);
  Result<AgentResult> send(Message message, std::stop_token stop, const std::string& agent_id);
  Result<AgentResult> resume(const Approvals& approvals, const Author& author, std::stop_token stop);
  Status speaks(std::vector<std::string> ids, const std::string& cause);
  Result<AgentResult> go_on(Result<AgentResult> result, std::stop_token stop);
  Status restore(const SessionId& id, bool force);

  std::optional<Session> open_session() const {
    const std::lock_guard lock(mutex);
    return session;
  }
  /// The state of the team in the log; empty before the first message.
  std::optional<TeamState> recorded() const {
    const auto now = open_session();
    return now ? now->actor_->query([](const State& s) { return s.team; }) : std::nullopt;
  }
};

/// Returns the session, with `agent` running it from now on.
Result<Session> Team::Parts::seat(const Agent& agent) {
  if (session && seated == agent.spec().id) return *session;
  std::optional<SessionId> id;
  if (session) {
    id = session->session_id();
    subscriptions.clear();
    if (auto closed = session->close(); !closed) return fail(closed.error());
  }
  auto seated_now = id ? runtime.open_session(*id, agent) : runtime.create_session(agent);
  if (!seated_now) return fail(seated_now.error());
  const std::lock_guard lock(mutex);
  subscriptions.push_back(seated_now->on("*", [this](const Event& event) { observers.publish(event); }));
  session = *seated_now;
  seated = agent.spec().id;
  return *session;
}

/// The report of a turn that was started in the session; `stop` interrupts it.
Result<AgentResult> Team::Parts::wait(const std::shared_ptr<EventQueue>& turn, std::stop_token stop) const {
  const std::stop_callback interrupt(std::move(stop), [&] { session->actor_->interrupt(turn); });
  return turn->result();
}

Result<AgentResult> Team::Parts::answer(const std::string& id, Message message, std::stop_token stop) {
  auto agent = known(id);
  if (!agent) return fail(agent.error());
  if (auto seated_now = seat(*agent); !seated_now) return fail(seated_now.error());
  const auto turn = std::make_shared<EventQueue>(false);
  std::vector<Message> messages;
  messages.push_back(std::move(message));
  session->actor_->start_turn(std::move(messages), turn);
  return wait(turn, std::move(stop));
}

/// Records that the first of `ids` answers from the next turn on, then the others. The record is durable when
/// this returns. Before the first message there is no log yet: `send` then records the speaker.
Status Team::Parts::speaks(std::vector<std::string> ids, const std::string& cause) {
  records::SpeakerSet set{ids.front(), {ids.begin() + 1, ids.end()}, cause, nullptr, {}};
  std::optional<Session> recorded_in;
  {
    const std::lock_guard lock(mutex);
    if (cause == "set" || cause == "handoff") current = set.agent;
    set.strategy = strategy.form();
    recorded_in = session;
  }
  if (!recorded_in) return {};
  set.author = recorded_in->actor_->principal();
  return recorded_in->actor_->submit([&](const State&) -> Result<std::vector<RecordBody>> {
    return std::vector<RecordBody>{std::move(set)};
  });
}

/// Continues until no member is left to answer, after a hand-over or as the next in a chain.
Result<AgentResult> Team::Parts::go_on(Result<AgentResult> result, std::stop_token stop) {
  for (int handoffs = 0; handoffs <= kMaxHandoffs;) {
    if (!result || !result->success) return result;
    auto team = recorded();
    if (!team) return result;
    if (team->pending.empty()) {
      if (team->next.empty()) return result;
      if (auto set = speaks(team->next, "chain"); !set) return fail(set.error());
      team = recorded();
      if (!team) return result;
    }
    const bool handed_over = team->pending == "handoff";
    if (handed_over && ++handoffs > kMaxHandoffs) break;
    result =
        answer(team->answering,
               text_message(Role::kUser, handed_over ? "The conversation was handed over to you. Continue."
                                                     : "Continue from the answer above."),
               stop);
  }
  return fail(ErrorCode::kLimit, "the conversation was handed over " + std::to_string(kMaxHandoffs) +
                                     " times without an answer");
}

/// Continues from the end of the log.
Status Team::Parts::restore(const SessionId& id, bool force) {
  const auto state = read_state(runtime.journal(), id);
  if (!state) return fail(state.error());
  if (!state->team)
    return fail(ErrorCode::kInput, "session " + id.str() + " is not the conversation of a team");
  if (auto speaker = known(state->team->speaker); !speaker) return fail(speaker.error());
  auto running = known(state->agent->id);
  if (!running) return fail(running.error());
  auto opened = runtime.open_session(id, *running, force);
  if (!opened) return fail(opened.error());
  const std::lock_guard lock(mutex);
  current = state->team->speaker;
  strategy = strategy_from(state->team->strategy);
  subscriptions.push_back(opened->on("*", [this](const Event& event) { observers.publish(event); }));
  session = *opened;
  seated = running->spec().id;
  return {};
}

Result<std::vector<std::string>> Team::Parts::route(const std::string& text) {
  Strategy chosen;
  std::vector<Agent> all;
  std::string now;
  History said;
  {
    const std::lock_guard lock(mutex);
    chosen = strategy;
    all = agents;
    now = current;
    if (session) said = session->history();
  }
  if (!chosen) return std::vector{now};
  auto ids = chosen({text, said, all, now, runtime});
  if (ids && ids->empty()) return fail(ErrorCode::kInput, "the strategy names no agent for this message");
  return ids;
}

Team::Team(Runtime& runtime) : parts_(std::make_shared<Parts>(runtime)) {}
Team::Team(std::vector<Agent> agents, std::shared_ptr<Runtime> runtime)
    : Team(runtime ? *runtime : *default_runtime()) {
  parts_->kept = parts_->runtime.shared_from_this();
  for (Agent& agent : agents) register_agent(std::move(agent));
}
Team::~Team() = default;
Team::Team(Team&&) noexcept = default;
Team& Team::operator=(Team&&) noexcept = default;

void Team::register_agent(Agent agent) {
  agent.runtime(nullptr);  // it may own this team, which would then keep itself alive
  const std::lock_guard lock(parts_->mutex);
  const std::string id = agent.spec().id;
  const auto known = std::ranges::find(parts_->agents, id, [](const Agent& a) { return a.spec().id; });
  if (known == parts_->agents.end()) {
    parts_->agents.push_back(std::move(agent));
  } else {
    *known = std::move(agent);
    if (parts_->seated == id) parts_->seated.clear();  // the next message uses the new description
  }
  if (parts_->current.empty()) parts_->current = id;
}

std::vector<Agent> Team::agents() const {
  const std::lock_guard lock(parts_->mutex);
  return parts_->agents;
}

Status Team::set_agent(const Agent& agent) {
  register_agent(agent);
  return parts_->speaks({agent.spec().id}, "set");
}

Status Team::set_agent_by_id(const std::string& id) {
  if (auto agent = parts_->known(id); !agent) return fail(agent.error());
  return parts_->speaks({id}, "set");
}

Agent Team::current_agent() const {
  const std::lock_guard lock(parts_->mutex);
  const Agent* agent = parts_->find(parts_->current);
  return (agent == nullptr ? Agent() : Agent(*agent)).runtime(parts_->runtime.shared_from_this());
}

Status Team::route_message(Strategy strategy) {
  std::string speaker;
  const Json form = strategy.form();
  {
    const std::lock_guard lock(parts_->mutex);
    parts_->strategy = std::move(strategy);
    speaker = parts_->current;
  }
  const auto team = parts_->recorded();
  if (speaker.empty() || (team && team->strategy == form)) return {};
  return parts_->speaks({speaker}, "set");
}

Result<AgentResult> Team::Parts::send(Message message, std::stop_token stop, const std::string& agent_id) {
  const std::lock_guard one_at_a_time(sending);
  auto ids =
      agent_id.empty() ? route(message.text()) : Result<std::vector<std::string>>(std::vector{agent_id});
  if (!ids) return fail(ids.error());
  const std::string first = ids->front();
  auto agent = known(first);
  if (!agent) return fail(agent.error());
  if (auto seated_now = seat(*agent); !seated_now) return fail(seated_now.error());
  if (!recorded()) {
    std::string speaker;
    {
      const std::lock_guard lock(mutex);
      speaker = current;
    }
    if (auto set = speaks({speaker}, "set"); !set) return fail(set.error());
  }
  if (auto set = speaks(*std::move(ids), "route"); !set) return fail(set.error());
  return go_on(answer(first, std::move(message), stop), stop);
}

/// Acts on the agent that works on a message.
struct Team::Control final : RunControl {
  explicit Control(const std::shared_ptr<Parts>& parts) : team(parts) {}

  SessionId session_id() const override {
    const auto session = now();
    return session ? session->session_id() : SessionId{};
  }
  void command(CommandVerb verb, std::string text) override {
    if (const auto session = now()) session->actor_->command(verb, std::move(text));
  }
  void interrupt() override { stop.request_stop(); }

  std::optional<Session> now() const {
    const auto parts = team.lock();
    return parts ? parts->open_session() : std::nullopt;
  }

  const std::weak_ptr<Parts> team;
  std::stop_source stop;
};

Result<AgentResult> Team::send(std::string text, std::stop_token stop, const std::string& agent_id) {
  return finished(parts_->send(text_message(Role::kUser, std::move(text)), std::move(stop), agent_id));
}

Run Team::stream(std::string text, std::string agent_id) {
  return stream(text_message(Role::kUser, std::move(text)), std::move(agent_id));
}

Run Team::stream(Message message, std::string agent_id) {
  return run_of(
      [message = std::move(message), agent_id = std::move(agent_id)](Parts& parts, std::stop_token stop) {
        return parts.send(message, std::move(stop), agent_id);
      });
}

/// Does the work on a thread of its own, with the events of all members.
Run Team::run_of(Work work) const {
  auto events = std::make_shared<EventQueue>(true);
  auto control = std::make_shared<Control>(parts_);
  parts_->runtime.model_services().executor->post_blocking(
      [parts = parts_, home = parts_->runtime.shared_from_this(), control, events,
       work = std::move(work)]() mutable {
        auto watching = parts->observers.add("*", [events](const Event& event) { events->push(event); });
        auto result = work(*parts, control->stop.get_token());
        watching.reset();
        events->finish(std::move(result));
      });
  return {std::move(control), std::move(events)};
}

Status Team::decide(const ParkId& park, Approval approval, Author author) {
  auto session = parts_->open_session();
  if (!session) return fail(ErrorCode::kInput, "the team has no conversation yet");
  return session->decide(park, std::move(approval), std::move(author));
}

Result<AgentResult> Team::Parts::resume(const Approvals& approvals, const Author& author,
                                        std::stop_token stop) {
  constexpr const char* kNothingLeft = "the team has nothing to resume";
  const std::lock_guard one_at_a_time(sending);
  const auto team = recorded();
  if (!team) return fail(nothing_to_resume_error(kNothingLeft));
  const auto [running, queued] =
      session->actor_->query([](const State& s) { return std::pair(s.turn.has_value(), !s.queue.empty()); });
  const AgentResult last = session->last_result();
  const bool failed = last.reason && !last.success;
  if (running || (failed && !queued)) {
    Run turn = running ? session->resume(approvals, author) : session->run();
    const std::stop_callback interrupt(stop, [&] { session->interrupt(); });
    return go_on(turn.report(), stop);
  }
  if (!failed && (!team->pending.empty() || !team->next.empty())) return go_on(last, stop);
  if (!queued) return fail(nothing_to_resume_error(kNothingLeft));
  // A message that was queued goes to the speaker: it was not routed when it came.
  const auto agent = known(team->speaker);
  if (!agent) return fail(agent.error());
  if (auto seated_now = seat(*agent); !seated_now) return fail(seated_now.error());
  if (auto set = speaks({team->speaker}, "route"); !set) return fail(set.error());
  const std::stop_callback interrupt(stop, [&] { session->interrupt(); });
  return go_on(session->resume({}, author).report(), stop);
}

Result<AgentResult> Team::resume(const Approvals& approvals, const Author& author, std::stop_token stop) {
  return finished(parts_->resume(approvals, author, std::move(stop)));
}

Run Team::stream_resume(Approvals approvals, Author author) {
  return run_of(
      [approvals = std::move(approvals), author = std::move(author)](Parts& parts, std::stop_token stop) {
        return parts.resume(approvals, author, std::move(stop));
      });
}

Status Team::open(const SessionId& session, bool force) {
  const std::lock_guard one_at_a_time(parts_->sending);
  if (parts_->session)
    return fail(ErrorCode::kInput,
                "the team already has a conversation: " + parts_->session->session_id().str());
  return parts_->restore(session, force);
}

Result<Session> Team::begin() {
  if (auto open = parts_->open_session()) return *open;  // also while a message is being answered
  const std::lock_guard one_at_a_time(parts_->sending);
  if (auto open = parts_->open_session()) return *open;
  std::string first;
  {
    const std::lock_guard lock(parts_->mutex);
    first = parts_->current;
  }
  auto agent = parts_->known(first);
  if (!agent) return fail(agent.error());
  return parts_->seat(*agent);
}

Status Team::inject(std::string text) {
  const std::lock_guard one_at_a_time(parts_->sending);
  auto session = parts_->seat(current_agent());
  if (!session) return fail(session.error());
  return session->add_user_turn(std::move(text));
}

std::vector<Tool> Team::handoff_tools(const std::string& from) const {
  std::vector<Tool> tools;
  const std::lock_guard lock(parts_->mutex);
  for (const Agent& agent : parts_->agents) {
    const std::string id = agent.spec().id;
    if (id == from) continue;
    const std::string& about =
        agent.spec().description.empty() ? agent.spec().name : agent.spec().description;
    Tool tool;
    tool.definition.name = handoff_tool_name(id);
    tool.definition.description = "Hand the conversation over to the agent \"" + id + "\"" +
                                  (about.empty() ? "" : " (" + about + ")") +
                                  ". It answers instead of you as soon as you end your turn.";
    tool.definition.parameters = JsonObject{{"type", "object"}, {"properties", JsonObject{}}};
    tool.definition.safe_by_default = true;
    tool.definition.idempotent = true;
    // The team holds the agent that holds this tool: a strong pointer would be a cycle.
    tool.handler = [weak = std::weak_ptr(parts_), id](ToolContext&, const Json&) -> Result<ToolOutput> {
      const auto parts = weak.lock();
      if (!parts) return fail(ErrorCode::kTool, "the team was destroyed");
      std::vector<std::string> ids{id};
      if (const auto team = parts->recorded()) ids.insert(ids.end(), team->next.begin(), team->next.end());
      if (auto set = parts->speaks(std::move(ids), "handoff"); !set) return fail(set.error());
      return ToolOutput{"Handed over to " + id + ". End your turn now.", nullptr, {}, {}};
    };
    tools.push_back(std::move(tool));
  }
  return tools;
}

SessionId Team::session_id() const {
  const auto session = parts_->open_session();
  return session ? session->session_id() : SessionId{};
}

History Team::history() const {
  const auto session = parts_->open_session();
  return session ? session->history() : History{};
}

Subscription Team::on(std::string pattern, EventHandler handler) {
  return Subscription(parts_->observers.add(std::move(pattern), std::move(handler)));
}

}  // namespace praxis
