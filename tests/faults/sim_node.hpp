// The sessions of a simulated process and the running effects, as plain data.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "driver/turn_driver.hpp"
#include "runtime/budget.hpp"
#include "sim_agenda.hpp"

namespace praxis::faults::sim {

struct Node;

/// A model call or a tool call: the handler's side of an effect. It continues after the driver has dropped
/// it.
struct Work {
  Node* node = nullptr;
  EffectId effect;
  std::uint32_t attempt = 1;
  ToolCallPart call = {};  ///< of a tool
  bool is_model = false;
  History history = {};  ///< of a model
  std::uint64_t deltas = 0;
  bool obeys = true;  ///< stops when asked to
  bool stopped = false;
  bool closed = false;  ///< nothing more can be done on behalf of the call
  Task then = nullptr;  ///< continues when its wait is over
  Agenda::TimerId timer = 0;
  std::vector<Node*> children = {};
  std::size_t waits_for = 0;  ///< sub-agents
  std::string said = {};      ///< by them
  std::map<std::string, int> occurrences = {};
};

/// One active session: a turn driver, and what the shell keeps for it.
struct Node {
  SessionId id;
  AgentSpecPtr agent;
  Lease lease;
  std::uint32_t depth = 0;
  Node* above = nullptr;
  CallId call = {};  ///< of the session above
  std::shared_ptr<Budget> budget_above = {};
  std::unique_ptr<driver::TurnDriver> driver = {};
  driver::Actions actions = {};
  bool draining = false;
  bool gave_up = false;
  bool leaving = false;  ///< leaves memory as soon as it has no running effects
  bool gone = false;     ///< has left memory
  std::uint32_t height = 0;
  std::optional<Append> unwritten = {};  ///< the append in progress, before it reaches the disk
  bool appending = false;
  bool asks_hooks = false;
  std::size_t works = 0;  ///< effects whose handlers have not ended
  std::size_t arrived = 0;
  std::map<EffectId, Work*> effects = {};  ///< that the driver has not dropped
  std::set<std::pair<EffectId, std::uint32_t>> started = {};
  std::map<driver::Token, Agenda::TimerId> timers = {};
  std::set<driver::Token> questions = {};
  std::map<driver::Token, Budget::Grant> grants = {};
  std::map<driver::Token, std::function<void(Result<AgentResult>)>> readers = {};
  std::map<driver::Token, std::function<void(Result<std::uint64_t>)>> waiters = {};
  std::map<driver::Token, std::function<void(Result<ToolOutcome>)>> callers = {};
  std::set<driver::Token> resting = {};  ///< waiters for the end or a wait of the turn
  std::shared_ptr<Budget> budget = {};
  bool budget_known = false;
  InboxId inbox_taken = 0;
  std::deque<driver::Input> from_below = {};  ///< inputs of sub-agents, in the order of sending
};

/// A sub-agent that a handler requests.
struct Sub {
  Work* work = nullptr;
  AgentSpecPtr agent;
  std::string key, prompt;
  SessionId id = {};  ///< set once it is recorded
};

/// A session of a program, and the messages that the program will send.
struct Root {
  AgentSpecPtr agent;
  SessionId id = {};  ///< empty: none yet, or the last one was deleted
  bool over = false;  ///< no further message is sent in this life
};

}  // namespace praxis::faults::sim
