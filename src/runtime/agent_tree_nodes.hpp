// Turns the states of sessions into nodes, and nodes into a tree.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "praxis/core/state.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis {

/// The task of the turn in progress, or else the last user message.
std::string task_of(const State& state);
/// The same as the filters at `shown` of the agent leave it: at most its first `kMaxNodeContent` bytes.
std::string content_of(const State& state);
/// The last word is left out of a text that was cut, unless it is too long for a key.
inline constexpr std::size_t kLongestCutWord = 2048;
/// Cuts a text of a node after its first `kMaxNodeContent` bytes.
std::string cut_node_text(std::string text);
/// Returns the parked steps of `state`, with ids that are unique in the tree. Takes those that are still
/// parked from `before`, an earlier result for the same session: copying a step costs more than finding it.
std::vector<ParkedStep> pending_of(const State& state, std::vector<ParkedStep> before = {});
/// The whole text of a message that waits; empty if none of this id does.
std::string waiting_text(const State& state, std::uint64_t id);
/// As `AgentNode::waiting`.
std::vector<WaitingMessage> waiting_of(const State& state);
/// Returns what the turn in progress waits for; nothing if it works or no turn is in progress.
std::optional<NodeWait> wait_of(const State& state);
/// Returns `state.status()`, except `modified` for a running turn whose task was changed by a command, and
/// `deleted` as soon as the command is recorded.
SessionStatus shown_status(const State& state);
/// Returns the node of one session. Children, times and subtree totals stay empty.
AgentNode node_of(const State& state);
/// Returns the node of a session without sub-agents as `JournalTree` shows it at the top of its scope: the
/// only one there. `state` is that after the last record.
AgentNode lone_node(const State& state, const SessionRow& row);

/// The place of a call among all calls of its session.
struct CallPlace {
  std::uint32_t batch = 0;  ///< counts the batches of calls that made sub-agents
  std::uint32_t position =
      0;                    ///< in the response or plan; of a call within a call: that of the outermost one
  std::uint32_t inner = 0;  ///< of a call within a call: position among these
  std::uint32_t nth = 0;    ///< among the sub-agents of the session
  auto operator<=>(const CallPlace&) const = default;
};

/// The places of the calls that made the sub-agents of one session, collected while its log grows: the state
/// forgets the calls of a batch once all are settled. Sub-agents of parallel calls start in any order.
class CallPlaces {
 public:
  /// Adds the sub-agents that `state` got since the last call. Cheap without any.
  void add(const State& state);
  /// Place of the call that made the sub-agent; nothing if it was not added.
  std::optional<CallPlace> find(const SessionId& child) const;
  void forget(const SessionId& child) { places_.erase(child); }

 private:
  std::map<SessionId, CallPlace> places_;
  TurnId turn_;
  std::uint32_t step_ = 0;
  std::uint32_t batch_ = 0;
  std::uint32_t nth_ = 0;
  std::size_t seen_ = 0;  ///< of `State::children`
};

/// A node, and the usage of its sub-agents that are not listed.
struct LooseNode {
  AgentNode node;
  Usage unlisted = {};
  std::optional<CallPlace> place = {};  ///< in the session above; without: after those with one
};
/// Adds children and subtree totals. Parents come before children; roots are sorted by creation time,
/// siblings by the place of their call, then by creation time.
std::vector<AgentNode> arrange(std::vector<LooseNode> loose);

}  // namespace praxis
