// The agent tree as people and other programs see it: every session with its place, what it is to do, where
// it stands, what it cost and what of it waits for a person. `Runtime::agent_tree` shows the sessions that
// are awake, `JournalTree` those of a journal, whichever process runs them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "praxis/core/state.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis {

inline constexpr std::size_t kMaxNodeContent = 4096;  ///< bytes of `AgentNode::content`

/// One session in the tree, without its conversation.
struct AgentNode {
  SessionId id;
  SessionId parent;                 ///< empty for a root
  std::vector<SessionId> children;  ///< that the same list shows, first made first
  std::string agent;                ///< agent id
  std::string path;                 ///< agent ids from the root down to this one
  std::uint32_t depth = 0;
  /// `awaiting_user` also when all that works for it waits for people; `modified` until a modification has
  /// reached the model.
  SessionStatus status = SessionStatus::kIdle;
  bool paused = false;
  std::string content;     ///< what it was last told to do; cut after `kMaxNodeContent` bytes
  std::string comment;     ///< a person's last annotation
  Json metadata;           ///< the caller's own
  Usage usage;             ///< of its own model calls
  Usage subtree;           ///< with everything below it
  std::uint32_t step = 0;  ///< of the turn in progress; 0 at rest
  UnixMillis created;
  UnixMillis updated;  ///< time of the last record
  std::vector<ParkedStep>
      pending;  ///< its own; their ids are those that `Session::decide` of any session above takes
};
Json to_json(const AgentNode& node);

/// One session with its conversation.
struct AgentState {
  AgentNode node;
  History history;
};
Json to_json(const AgentState& state);

/// The id of a parked step that is unique in the tree: `<session>/<id>`.
ParkId qualified_id(const SessionId& session, const ParkId& park);

/// The sessions of a journal as a tree, for processes that do not run them. A session whose process is gone
/// looks as it did then. Not thread-safe; keeps what it has read, so that asking again is cheap.
class JournalTree {
 public:
  /// Which sessions to show.
  struct Scope {
    SessionId root = {};         ///< this one and those below; empty: all
    std::size_t last_roots = 0;  ///< of all, only the trees of the roots made last; 0: no limit
  };
  explicit JournalTree(std::shared_ptr<Journal> journal) : JournalTree(std::move(journal), Scope{}) {}
  JournalTree(std::shared_ptr<Journal> journal, Scope scope)
      : journal_(std::move(journal)), scope_(std::move(scope)) {}

  /// Reads what has changed. Error `kJournal`; a session that cannot be read is shown with status `error`.
  Status refresh();
  /// Parents before their children, roots first made first.
  std::vector<AgentNode> nodes() const;

 private:
  struct Known {
    std::uint64_t entries = 0;
    AgentNode node;
    std::optional<State> state;  ///< while a turn is in progress: the log will go on from here
  };
  Result<std::vector<SessionRow>> rows() const;
  Status collect(const SessionRow& top, std::vector<SessionRow>& rows) const;
  void read(const SessionRow& row, Known& known) const;
  bool waits(const Known& known, std::uint32_t levels) const;

  std::shared_ptr<Journal> journal_;
  Scope scope_;
  std::map<SessionId, Known> known_;
};

/// A session of a journal with its conversation; `subtree` counts all below it. Errors `kInput` for an
/// unknown id, `kJournal`.
Result<AgentState> agent_state(const std::shared_ptr<Journal>& journal, const SessionId& id);

}  // namespace praxis
