// Several agents that share one conversation: a person or a strategy says who answers which message, and an
// agent may hand the conversation over to another.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "praxis/runtime/agent.hpp"

namespace praxis {

/// What a strategy knows of the message that is to be answered.
struct Routing {
  const std::string& text;
  const History& said;               ///< the conversation so far, without the message
  const std::vector<Agent>& agents;  ///< in order of registration
  const std::string& current;        ///< id of the agent that would answer
  Runtime& runtime;
};

/// Names the agents that work on a message, by id: each one in turn, the next on what the last has said.
/// Error when no agent fits. May block; must be safe to call from the threads that call `Team::send`.
using Strategy = std::function<Result<std::vector<std::string>>(const Routing&)>;

/// The first role whose name is a word of the message answers; without one the current agent does.
/// `agents` maps roles to agent ids.
Strategy route_by_role(std::map<std::string, std::string> agents);
/// Another agent reads the message and chooses, by structured output; its choice is a session of its own.
Strategy route_by_supervisor(Agent supervisor);
/// Every message goes through these agents, one after the other.
Strategy route_chain(std::vector<std::string> ids);

/// Several agents on one session. Thread-safe; messages are answered one at a time. They run in the team's
/// runtime, whatever runtime they had before. A runtime has a team of its own (`Runtime::team`); further ones
/// are further conversations.
class Team {
 public:
  /// The first of `agents` answers until something else is said. Null: in the default runtime. The team keeps
  /// its runtime alive.
  explicit Team(std::vector<Agent> agents, std::shared_ptr<Runtime> runtime = nullptr);
  ~Team();
  Team(Team&&) noexcept;
  Team& operator=(Team&&) noexcept;

  /// Adds an agent, or replaces the one of the same id.
  void register_agent(Agent agent);
  /// Who answers from the next message on; registers the agent when it is not known.
  void set_agent(const Agent& agent);
  /// Error `kInput` lists the ids there are.
  Status set_agent_by_id(const std::string& id);
  /// The agent that answers the next message unless a strategy says otherwise; it runs in the team's runtime.
  /// One without a name while there is none.
  Agent current_agent() const;
  /// From the next message on; null: the current agent answers.
  void route_message(Strategy strategy);

  /// One message and its answer, from the last of the agents that worked on it. An agent that was given
  /// `handoff_tools` may pass the conversation on, at most eight times a message.
  Result<AgentResult> send(std::string text, std::stop_token stop = {});
  /// Puts a message of somebody else into the conversation, to be seen by whoever answers next.
  Status inject(std::string text);
  /// Tools `hand_over_to_<id>` to every agent but the one named; give them to that one with `Agent::use`.
  std::vector<Tool> handoff_tools(const std::string& from) const;

  /// Empty before the first message.
  SessionId session_id() const;
  History history() const;
  /// Subscribes to the events of the conversation, whoever answers, until the returned object is destroyed.
  [[nodiscard]] std::shared_ptr<void> on(std::string pattern, EventHandler handler);

 private:
  friend class Runtime;
  /// That of a runtime itself, which it does not keep alive.
  explicit Team(Runtime& runtime);

  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace praxis
