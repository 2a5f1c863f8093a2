// The agent tree of one runtime: a node for every session that is awake, and for those below a root that is.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "praxis/core/state.hpp"
#include "praxis/runtime/agent_tree.hpp"

namespace praxis {

/// Thread-safe; one short lock. A tree goes when its root leaves; until then those below stay that have
/// ended, but for the oldest when there are more than `kMaxEnded`, whose usage their parents keep.
class AgentRegistry {
  struct Entry;

 public:
  static constexpr std::size_t kMaxEnded = 10'000;  ///< nodes of one tree whose sessions are asleep

  /// A session's place in the tree, for as long as the session is awake.
  class Place {
   public:
    Place(AgentRegistry& registry, SessionId root, std::shared_ptr<Entry> entry)
        : registry_(registry), root_(std::move(root)), entry_(std::move(entry)) {}
    ~Place() { registry_.leave(root_, *entry_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// Takes over what of `state` the tree shows. Nothing is allocated when nothing of that has changed.
    void show(const State& state, SessionStatus status, std::optional<UnixMillis> updated);
    /// The session can do nothing any more.
    void lost();

   private:
    AgentRegistry& registry_;
    const SessionId root_;
    const std::shared_ptr<Entry> entry_;
  };

  /// Registers a session below `root` (itself, when it is one).
  std::unique_ptr<Place> enter(const SessionId& root, const State& state, UnixMillis created);
  /// Consistent: parents before children, totals from the same moment.
  std::vector<AgentNode> snapshot() const;

 private:
  struct Entry {
    AgentNode node;
    TurnId turn;                                   ///< whose prompt the node has
    std::string task;                              ///< what a person made of that prompt
    std::pair<std::uint32_t, std::size_t> parked;  ///< next id and number: they tell one set from another
    Usage earlier;                                 ///< of sub-agents that are not listed
    std::vector<ChildState> recorded;              ///< sub-agents of a call that a process before us began
    bool awake = true;
  };
  struct Tree {
    std::map<SessionId, std::shared_ptr<Entry>> entries;
    /// In the order of their end: children before their parents. No deque, which takes half a kilobyte for
    /// nothing.
    std::list<SessionId> ended;
  };

  void leave(const SessionId& root, Entry& entry);
  static void forget_oldest(Tree& tree);

  mutable std::mutex mutex_;
  std::map<SessionId, Tree> trees_;
};

}  // namespace praxis
