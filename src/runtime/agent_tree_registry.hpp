// The agent tree of one runtime: a node for every active session, and for the sessions below an active root.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "praxis/core/event.hpp"
#include "praxis/core/state.hpp"
#include "praxis/runtime/agent_tree.hpp"
#include "runtime/agent_tree_nodes.hpp"

namespace praxis {

/// Thread-safe; every method takes one short lock. A tree is removed with its root. Until then it keeps the
/// nodes of ended sessions: at most `kMaxEnded`, then it drops the oldest and adds its usage to its parent.
class AgentRegistry {
  struct Entry;

 public:
  static constexpr std::size_t kMaxEnded = 10'000;  ///< nodes of one tree whose sessions are no longer active

  /// A session's entry in the tree. Its destructor marks the session as no longer active.
  class Place {
   public:
    Place(AgentRegistry& registry, SessionId root, std::shared_ptr<Entry> entry)
        : registry_(registry), root_(std::move(root)), entry_(std::move(entry)) {}
    ~Place() { registry_.leave(root_, *entry_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// Copies what the tree shows of `state`; `sleeps` is for `asleep`. Does not allocate when the copied
    /// text is unchanged. Returns the event of the change; `std::nullopt` if status, pause, task and comment
    /// are as before.
    std::optional<events::AgentStatus> show(const State& state, SessionStatus status,
                                            std::optional<UnixMillis> updated, bool sleeps);
    /// Shows status `error`: the session cannot continue.
    void lost();

   private:
    AgentRegistry& registry_;
    const SessionId root_;
    const std::shared_ptr<Entry> entry_;
  };

  /// Registers a session in the tree of `root`, which is the session's own id for a root.
  std::unique_ptr<Place> enter(const SessionId& root, const State& state, UnixMillis created);
  /// Returns a consistent copy: parents before children, and all totals from the same moment.
  std::vector<AgentNode> snapshot() const;
  /// The sessions whose turn does nothing before a timer ends, there or in a sub-agent.
  std::set<SessionId> asleep() const;

 private:
  struct Entry {
    AgentNode node;
    TurnId turn;       ///< the turn whose prompt `node.content` shows
    std::string task;  ///< the prompt of `turn` as a `modify` command changed it
    std::pair<std::uint32_t, std::size_t>
        parked;  ///< next id and number of parked steps: both unchanged means the same set
    std::vector<std::uint64_t> waiting;  ///< ids of the messages that `node.waiting` shows
    AgentSpecPtr filters;                ///< the agent whose filters these passed
    Usage earlier;                       ///< usage of sub-agents that are not listed
    std::vector<ChildState> recorded;    ///< sub-agents that the log already held when the session was opened
    CallPlaces places;                   ///< of the calls that made its sub-agents
    bool awake = true;
    bool shown = false;  ///< `Place::show` was called
    bool sleeps = false;
  };
  struct Tree {
    std::map<SessionId, std::shared_ptr<Entry>> entries;
    /// Sorted by the time they ended: children before their parents. Not a deque, which allocates half a
    /// kilobyte when empty.
    std::list<SessionId> ended;
  };

  static void show_waiting(Entry& entry, const State& state);
  void leave(const SessionId& root, Entry& entry);
  static void forget_oldest(Tree& tree);

  mutable std::mutex mutex_;
  std::map<SessionId, Tree> trees_;
};

}  // namespace praxis
