// Several agents that share one conversation. The host or a strategy selects the agent that answers a
// message, and an agent can hand the conversation over to another.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "praxis/runtime/agent.hpp"

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
/// previous one. Error: no agent fits. May block; must be safe to call from the threads that call
/// `Team::send`.
using Strategy = std::function<Result<std::vector<std::string>>(const Routing&)>;

/// Selects the agent of the first role whose name occurs as a word in the message; without a match, the
/// current agent. `agents` maps roles to agent ids.
Strategy route_by_role(std::map<std::string, std::string> agents);
/// A supervisor agent reads the message and selects the agent by structured output, in a separate session.
Strategy route_by_supervisor(Agent supervisor);
/// Sends every message through these agents in order.
Strategy route_chain(std::vector<std::string> ids);

/// Several agents on one session. Thread-safe; answers one message at a time. All agents run in the team's
/// runtime, regardless of their own. A runtime has one team (`Runtime::team`); each further team is a
/// separate conversation.
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
  /// Sets the agent that answers from the next message on; registers it if it is unknown.
  void set_agent(const Agent& agent);
  /// Error `kInput` lists the known ids.
  Status set_agent_by_id(const std::string& id);
  /// The agent that answers the next message unless a strategy selects another. Without any agent, returns
  /// one without a name.
  Agent current_agent() const;
  /// Sets the strategy from the next message on; null: the current agent answers.
  void route_message(Strategy strategy);

  /// Sends one message and returns the answer of the last agent that worked on it. An agent with
  /// `handoff_tools` can hand the conversation over, at most eight times per message.
  Result<AgentResult> send(std::string text, std::stop_token stop = {});
  /// Adds a message from a third party to the conversation, for the agent that answers next.
  Status inject(std::string text);
  /// Tools `hand_over_to_<id>` for every agent except `from`; add them to that agent with `Agent::use`.
  std::vector<Tool> handoff_tools(const std::string& from) const;

  /// Empty before the first message.
  SessionId session_id() const;
  History history() const;
  /// Subscribes to the events of the conversation, for all agents, until the returned object is destroyed.
  [[nodiscard]] std::shared_ptr<void> on(std::string pattern, EventHandler handler);

 private:
  friend class Runtime;
  /// The team of a runtime, which it does not keep alive.
  explicit Team(Runtime& runtime);

  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace praxis
