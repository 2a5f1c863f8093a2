// The agent tree as seen by users and other programs: each session with its position, task, status, cost and
// pending steps. `Runtime::agent_tree` shows the active sessions of a process, `JournalTree` the sessions of
// a journal, in any process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "praxis/core/history.hpp"
#include "praxis/core/report.hpp"
#include "praxis/journal/journal.hpp"

#pragma GCC visibility push(default)
namespace praxis {

inline constexpr std::size_t kMaxNodeContent = 4096;  ///< bytes of `AgentNode::content`

/// What a turn in progress waits for, as far as the journal says: not for a rate limit that its process
/// keeps, nor for a shared budget.
struct NodeWait {
  std::string reason;          ///< `model`, `retry`, `timer` or `human`
  std::string what;            ///< the model; before a retry, what failed
  UnixMillis since;            ///< when it was decided on; 0: unknown
  UnixMillis until;            ///< of a retry and a timer: when it ends; else 0
  std::uint32_t attempt = 1;   ///< at the model call, the next one before a retry
  std::uint32_t attempts = 0;  ///< at most; 0: patience bounds them
};

/// One session in the tree, without its conversation.
struct AgentNode {
  SessionId id;
  SessionId parent;                 ///< empty for a root
  std::vector<SessionId> children;  ///< those in the same list, in the order of the calls that made them
  std::string agent;                ///< agent id
  std::string path;                 ///< agent ids from the root to this one
  std::uint32_t depth = 0;
  /// `awaiting_user` also if all running sub-agents wait for approvers; `modified` until the model has
  /// received a modification; `interrupted` if its turn is not over and its process has ended.
  SessionStatus status = SessionStatus::kIdle;
  bool paused = false;
  bool held = false;       ///< a turn is in progress and a process works on it, or waits for its approvers
  std::string content;     ///< its last task, as modified; cut after `kMaxNodeContent` bytes
  std::string comment;     ///< the last annotation
  Json metadata;           ///< set by the caller
  Usage usage;             ///< of its own model calls
  Usage subtree;           ///< including all sessions below
  std::uint32_t step = 0;  ///< of the running turn; 0 if idle
  UnixMillis created;
  UnixMillis updated;               ///< time of the last record
  Millis ended_turns{0};            ///< wall time of the turns that have ended
  UnixMillis turn_began = {};       ///< 0 without a turn in progress
  std::optional<NodeWait> waits;    ///< set only while `status` is that of a turn in progress
  std::vector<ParkedStep> pending;  ///< its own; `Session::decide` of any session above accepts their ids
  /// Messages that its model has not got: the first 20, those for the next step first, cut as `content`.
  std::vector<WaitingMessage> waiting;
};
Json to_json(const AgentNode& node);
/// Wall time of all its turns, without the pauses between them. A turn in progress counts until `now`, or
/// until its last record when no process works on it.
Millis time_in_turns(const AgentNode& node, UnixMillis now);

/// One session with its conversation.
struct AgentState {
  AgentNode node;
  History history;
};
Json to_json(const AgentState& state);

/// The sessions of a journal as a tree, for processes that do not run them. Not thread-safe; caches what it
/// has read, so that refreshing is cheap.
class JournalTree {
 public:
  /// The sessions to show.
  struct Scope {
    SessionId root = {};         ///< this session and those below; empty: all
    std::size_t last_roots = 0;  ///< if all: only the trees of the newest roots; 0: no limit
  };
  explicit JournalTree(std::shared_ptr<Journal> journal) : JournalTree(std::move(journal), Scope{}) {}
  JournalTree(std::shared_ptr<Journal> journal, Scope scope);
  ~JournalTree();
  JournalTree(JournalTree&&) noexcept;
  JournalTree& operator=(JournalTree&&) noexcept;

  /// Reads the changes. Error `kJournal`; a session that cannot be read is shown with status `error`.
  Status refresh();
  /// Parents before their children, roots in order of creation, sub-agents in the order of their calls.
  std::vector<AgentNode> nodes() const;

 private:
  friend Result<AgentState> agent_state(const std::shared_ptr<Journal>& journal, const SessionId& id);
  class Reader;
  std::unique_ptr<Reader> reader_;
};

/// A session of a journal with its conversation; `subtree` includes all sessions below. Errors `kInput` for
/// an unknown id, `kJournal`.
Result<AgentState> agent_state(const std::shared_ptr<Journal>& journal, const SessionId& id);

}  // namespace praxis
#pragma GCC visibility pop
