// The invariants of the journal of a simulated process, after every kill and at the end.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "praxis/core/state.hpp"
#include "praxis/praxis.hpp"

namespace praxis::faults::sim {

using Log = std::vector<StoredRecord>;

/// An action of a tool that cannot be undone.
struct Deed {
  SessionId session;
  std::string tool, key;
  std::uint32_t attempt = 1;
};

/// The outcome of one run.
struct RunOutcome {
  std::uint64_t steps = 0, kills = 0;
  std::string digest;  ///< of all logs
  std::vector<std::string> complaints;
};

/// A fact that was confirmed to a caller, so that the log must contain it.
struct Promise {
  SessionId session;
  std::string what;
  std::function<bool(const Log&)> kept;
};

/// True when a log holds a promised decision.
bool holds_decision(const Log& log, const ParkId& park);
bool holds_command(const Log& log, CommandVerb verb, const std::string& text);
bool holds_end(const Log& log, const AgentResult& result);
bool holds_prompt(const Log& log, const std::string& prompt);

/// The logs of a journal, and the violations found in them.
class Checks {
 public:
  explicit Checks(const std::vector<Deed>& deeds) : deeds_(deeds) {}

  /// Adds every log of a journal.
  void read(Journal& journal);
  void add(const SessionId& session, Log log, State state);

  /// Checks that every log replays.
  void replays();
  /// Checks that every promise holds; that nothing was done twice or without a recorded intent; and that
  /// totals and limits are right.
  void all(const std::vector<Promise>& promises);
  /// Checks that no root session is still active.
  void at_rest();
  /// Checks whole trees, from the records alone: that the agent tree of the journal has their sums and shows
  /// no session at work; with `undisturbed` (no process died or gave a session up), that no sub-agent is left
  /// in a turn and no tree has started more calls than the limit of its root.
  void trees(Journal& journal, bool undisturbed);
  /// Checks that the agent tree of the journal has the sums of its logs.
  void shown_tree(Journal& journal);
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  void effects(const SessionId& session, const Log& log);
  void totals(const SessionId& session, const Log& log);
  void children(const SessionId& session, const Log& log);
  void complain(const SessionId& session, const std::string& what) {
    complaints_.push_back(session.str() + ": " + what);
  }

  const std::vector<Deed>& deeds_;
  std::map<SessionId, Log> logs_;
  std::map<SessionId, State> states_;
  std::vector<std::string> complaints_;
};

/// The ends of the hash chains of all logs.
std::string digest_of_logs(Journal& journal);

}  // namespace praxis::faults::sim
