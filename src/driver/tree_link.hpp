// The links of one session to those above and below: the sub-agents of its calls, the steps those wait for,
// and the handlers that wait for calls within their own. A value: parents and children are referred to by id.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "driver/input.hpp"
#include "praxis/core/state.hpp"

namespace praxis::driver {

class TreeLink {
 public:
  // ---- sub-agents

  void began(const SessionId& child, const CallId& call);
  void ended(const SessionId& child);
  /// False when the sub-agent is unknown.
  bool waits(ChildWaits waiting);
  /// False when the sub-agent is unknown.
  bool lost(const SessionId& child);
  void decided(const ParkId& step);
  /// The turn is over: forgets all sub-agents.
  void forget_children();

  /// What ends a wait.
  enum class Waits : std::uint8_t { kForPeople, kForPeopleOrTimers };
  /// True when a running call cannot continue without that: something that works for it waits, and everything
  /// else that works for it waits too.
  bool is_blocked(const State& state, const CallState& call, Waits waits = Waits::kForPeople) const;
  /// False when no running call waits for a sub-agent or for a call within it.
  bool any_help(const State& state) const { return !busy_.empty() || state.turn->calls.any_within(); }
  /// True when nothing can happen in this session or below it without an approval.
  bool waits_for_people(const State& state) const { return is_at_rest(state, Waits::kForPeople); }
  /// True when nothing can happen in this session or below it before a timer ends or a person decides.
  bool rests(const State& state) const;
  /// True while a handler in this process works on an answer for a sub-agent.
  bool attended() const;
  /// Returns the steps that sub-agents wait for.
  std::vector<ParkedStep> pending() const;
  /// True when the session above has to be informed that this one now waits or sleeps, or no longer does.
  bool tells(bool waits);

  // ---- calls within calls

  void await(const CallId& call, Token waiter) { awaited_[call].push_back(waiter); }
  bool awaits_any() const { return !awaited_.empty(); }
  /// Removes and returns the callers that wait for `call`.
  std::vector<Token> take(const CallId& call);
  std::vector<Token> take_all();
  /// Removes and returns the callers of calls that were removed or will never start, with the error for each.
  std::vector<std::pair<Token, Error>> take_lost(const State& state);

 private:
  bool is_at_rest(const State& state, Waits waits) const;
  void rest(const SessionId& child);

  /// A sub-agent of a call in progress.
  struct Child {
    CallId call;
    bool busy = true;  ///< a turn is in progress
    std::vector<ParkedStep> pending =
        {};  ///< steps that it and the sessions below wait for; empty: it is running
    bool attended = false;
    bool sleeps = false;
  };

  std::map<SessionId, Child> children_;
  std::map<CallId, std::set<SessionId>> busy_;  ///< of these, by call
  std::map<CallId, std::vector<Token>> awaited_;
  bool told_above_ = false;  ///< the session above knows that this session waits or sleeps
};

/// Error `kInput`: `call` is over.
Error call_is_over(const CallId& call);
/// Returns the result of a settled call for the handler that asked for it.
Result<ToolOutcome> outcome_of(const CallState& call);

}  // namespace praxis::driver
