// Several agents that share one conversation. The host or a strategy selects the agent that answers a
// message, and an agent can hand the conversation over to another.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "praxis/runtime/agent.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// What a strategy knows about the message to answer.
struct Routing {
  const std::string& text;
  const History& said;               ///< the conversation before the message
  const std::vector<Agent>& agents;  ///< in order of registration
  const std::string& current;        ///< id of the agent that would answer
  Runtime& runtime;
};

/// Selects the agents that work on a message, by id. They run in order; each continues from the answer of the
/// previous one. Made from a callable with the signature of `Route`, which may block and must be safe to call
/// from the threads that call `Team::send`; error: no agent fits.
class Strategy {
 public:
  using Route = std::function<Result<std::vector<std::string>>(const Routing&)>;

  /// No strategy: the current agent answers.
  Strategy() = default;
  template <class F>
    requires std::is_constructible_v<Route, F> && (!std::is_same_v<std::remove_cvref_t<F>, Strategy>)
  Strategy(F route) : Strategy(Route(std::move(route)), {}) {}  // NOLINT(google-explicit-constructor)
  /// With its recorded form; `{"kind": "custom"}` when the strategy cannot be restored from it.
  Strategy(Route route, Json form)
      : route_(std::move(route)),
        form_(form.is_null() ? Json(JsonObject{{"kind", "custom"}}) : std::move(form)) {}

  explicit operator bool() const { return static_cast<bool>(route_); }
  Result<std::vector<std::string>> operator()(const Routing& routing) const { return route_(routing); }
  /// Null for no strategy.
  Json form() const { return route_ ? form_ : Json(nullptr); }

 private:
  Route route_;
  Json form_;
};

/// Selects the agent whose role, name and description have most words in common with the message, whatever
/// their ending (`code`, `coding`, `source-code`); the role counts most. Without any, the current agent.
/// `agents` maps roles to agent ids.
Strategy route_by_role(std::map<std::string, std::string> agents);
/// A supervisor agent reads the last messages of the conversation and the new one, and selects the agent by
/// structured output, in a separate session. It sees the descriptions of the agents (`Agent::description`).
Strategy route_by_supervisor(Agent supervisor);
/// Sends every message through these agents in order.
Strategy route_chain(std::vector<std::string> ids);

/// Several agents on one session. Thread-safe; answers one message at a time. All agents run in the team's
/// runtime, regardless of their own. A runtime has one team (`Runtime::team`); each further team is a
/// separate conversation. The speaker, hand-overs and the strategy are records of the session, so another
/// process can `open` the team after a crash.
class Team {
 public:
  /// The first of `agents` answers until another is selected. Null: the default runtime. The team keeps its
  /// runtime alive.
  explicit Team(std::vector<Agent> agents, std::shared_ptr<Runtime> runtime = nullptr);
  ~Team();
  Team(Team&&) noexcept;
  Team& operator=(Team&&) noexcept;

  /// Adds an agent, or replaces the one of the same id.
  void register_agent(Agent agent);
  /// The agents, in order of registration.
  std::vector<Agent> agents() const;
  /// Sets the agent that answers from the next message on; registers it if it is unknown. Error `kJournal`.
  Status set_agent(const Agent& agent);
  /// The same for a registered agent. Errors `kInput` (lists the known ids), `kJournal`.
  Status set_agent_by_id(const std::string& id);
  /// The agent that answers the next message unless a strategy selects another. Without any agent, returns
  /// one without a name.
  Agent current_agent() const;
  /// Sets the strategy from the next message on; empty: the current agent answers. Records nothing if the log
  /// has the same form already, so that members that are still to answer stay. Error `kJournal`.
  Status route_message(Strategy strategy);

  /// Opens the conversation of an earlier team from the journal, with the speaker that the log names;
  /// `resume` then continues the interrupted turn. All members that may answer must be registered. Strategies
  /// of `route_by_role` and `route_chain` are restored; set others again with `route_message`, or `send`
  /// refuses every message. Errors `kInput` (this team has a conversation, the session is not a team's, a
  /// member is missing) and those of `Runtime::open_session`, which also says what `force` does.
  Status open(const SessionId& session, bool force = false);
  /// Creates the conversation before its first message, so that its id is known; returns it, or the one that
  /// there is, as the member that runs it has it. The handle becomes unusable when another member answers.
  Result<Session> begin();
  /// Sends one message and returns the answer of the last agent that worked on it. An agent with
  /// `handoff_tools` can hand the conversation over, at most eight times per message. With `agent_id`, that
  /// agent answers this message, whatever the strategy; error `kInput` for an unknown one.
  Result<AgentResult> send(std::string text, std::stop_token stop = {}, const std::string& agent_id = {});
  /// The same as a run: events of all agents that work on the message, until the last has answered; steering
  /// and pausing reach the one that works, and an interrupt ends the message. The first agent gets the whole
  /// message, with its attachments.
  Run stream(std::string text, std::string agent_id = {});
  Run stream(Message message, std::string agent_id = {});
  /// Decides a parked step of the conversation, as `Session::decide`; `resume` then lets the remaining
  /// members answer. Error `kInput` before the first message.
  Status decide(const ParkId& park, Approval approval, Author author = person_by_library());
  /// Continues after a crash, an approval or an error: finishes the turn in progress, with approvals of its
  /// parked steps, repeats one that failed, or begins that of a queued message; then lets the remaining
  /// members answer. Error `kInput` when there is nothing to continue.
  Result<AgentResult> resume(const Approvals& approvals = {}, const Author& author = person_by_library(),
                             std::stop_token stop = {});
  /// The same as a run.
  Run stream_resume(Approvals approvals = {}, Author author = person_by_library());
  /// Adds a message from a third party to the conversation, for the agent that answers next.
  Status inject(std::string text);
  /// Tools `hand_over_to_<id>` for every agent except `from`; add them to that agent with `Agent::use`.
  std::vector<Tool> handoff_tools(const std::string& from) const;

  /// Empty before the first message.
  SessionId session_id() const;
  History history() const;
  /// Subscribes to the events of the conversation, for all agents, until the returned object is destroyed.
  /// Throws `std::invalid_argument` if no event can ever match `pattern` (`check_pattern`).
  Subscription on(std::string pattern, EventHandler handler);

 private:
  friend class Runtime;
  /// The team of a runtime, which it does not keep alive.
  explicit Team(Runtime& runtime);

  struct Parts;
  struct Control;
  using Work = std::function<Result<AgentResult>(Parts& parts, std::stop_token stop)>;
  Run run_of(Work work) const;

  std::shared_ptr<Parts> parts_;
};

}  // namespace praxis
#pragma GCC visibility pop
