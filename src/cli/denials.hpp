// Collects the calls that rules denied during a turn, in the run and its sub-agents.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "praxis/core/event.hpp"

namespace praxis::cli {

/// Not thread-safe.
class Denials {
 public:
  /// Follows the turn of `root`.
  explicit Denials(SessionId root) : root_(std::move(root)) {}

  /// Takes all events of the turn, in order.
  void add(const Event& event);
  /// Whether a rule or hook denied a call. A call that a human rejected is not counted.
  bool any() const { return any_; }
  /// The denied calls of sub-agents, as `TOOL (in RUN): reason`.
  const std::vector<std::string>& below() const { return below_; }

 private:
  const SessionId root_;
  std::map<std::pair<SessionId, CallId>, std::string> tools_;  ///< the tool of each call
  std::vector<std::string> below_;
  bool any_ = false;
};

}  // namespace praxis::cli
