// The invariants of the journal of a simulated process, after every kill and at the end.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "praxis/core/state.hpp"
#include "praxis/praxis.hpp"
#include "sim_outside.hpp"

namespace praxis::faults::sim {

using Log = std::vector<StoredRecord>;

/// A fact that was confirmed to a caller, so that the log must contain it.
struct Promise {
  SessionId session;
  std::string what;
  std::function<bool(const Log&)> kept;
};

/// The logs of a journal, and the violations found in them.
class Checks {
 public:
  Checks(Journal& journal, const Outside& outside) : journal_(journal), outside_(outside) {}

  /// Every log folds and replays; every promise holds; nothing was done twice, or without a recorded intent.
  void all(const std::vector<Promise>& promises);
  /// No session without a parent is still active.
  void at_rest();
  const std::vector<std::string>& complaints() const { return complaints_; }
  /// The ends of the hash chains of all logs.
  std::string digest() const { return digest_; }

 private:
  void read(const SessionRow& row);
  void effects(const SessionId& session, const Log& log);
  void tree();
  void complain(const SessionId& session, const std::string& what) {
    complaints_.push_back(session.str() + ": " + what);
  }

  Journal& journal_;
  const Outside& outside_;
  std::map<SessionId, Log> logs_;
  std::map<SessionId, State> states_;
  std::vector<std::string> complaints_;
  std::string digest_;
};

}  // namespace praxis::faults::sim
