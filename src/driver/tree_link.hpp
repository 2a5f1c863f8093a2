// One session among those above and below it: which sub-agents its calls have, what those wait for, and which
// handlers wait for calls within their own. A value: parents and children are named by their ids.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "driver/input.hpp"
#include "praxis/core/state.hpp"

namespace praxis::driver {

class TreeLink {
 public:
  // ---- sub-agents

  void began(const SessionId& child, const CallId& call) { children_[child] = Child{call}; }
  void ended(const SessionId& child);
  /// False when the sub-agent is unknown.
  bool waits(ChildWaits waiting);
  /// False when the sub-agent is unknown.
  bool lost(const SessionId& child) { return children_.erase(child) != 0; }
  void decided(const ParkId& step);
  /// The turn is over.
  void forget_children() { children_.clear(); }

  /// Whether a running call cannot go on before a person decides: something that works for it waits, and
  /// nothing that works for it does anything else.
  bool is_blocked(const State& state, const CallState& call) const;
  /// Whether nothing happens in this session or below it before a person decides.
  bool waits_for_people(const State& state) const;
  /// A handler in this process is at work on an answer for a sub-agent.
  bool attended() const;
  /// What those below wait for.
  std::vector<ParkedStep> pending() const;
  /// Whether the session above has to learn that this one waits, or waits no more.
  bool tells(bool waits);

  // ---- calls within calls

  void await(const CallId& call, Token waiter) { awaited_[call].push_back(waiter); }
  bool awaits_any() const { return !awaited_.empty(); }
  /// Those that wait for `call`, which wait no more.
  std::vector<Token> take(const CallId& call);
  std::vector<Token> take_all();
  /// Those that wait for calls that are gone, or that are never started any more.
  std::vector<std::pair<Token, Error>> take_lost(State& state);

 private:
  /// A sub-agent of a call in progress.
  struct Child {
    CallId call;
    bool busy = true;                      ///< a turn is in progress
    std::vector<ParkedStep> pending = {};  ///< what it and those below wait for; empty: it is at work
    bool attended = false;
  };

  std::map<SessionId, Child> children_;
  std::map<CallId, std::vector<Token>> awaited_;
  bool told_above_ = false;  ///< that this session waits for people
};

/// Error `kInput`: nothing more can be done on behalf of `call`.
Error call_is_over(const CallId& call);
/// What the handler that asked for a settled call gets.
Result<ToolOutcome> outcome_of(const CallState& call);

}  // namespace praxis::driver
