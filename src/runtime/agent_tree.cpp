// The agent tree of a journal. The session rows say which sessions exist and which have changed; the logs
// hold the rest.
#include "praxis/runtime/agent_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/decisions.hpp"
#include "logs/lineage.hpp"
#include "logs/read_part.hpp"
#include "praxis/core/state.hpp"
#include "praxis/logs/logs.hpp"
#include "runtime/agent_tree_nodes.hpp"

namespace praxis {
namespace {

using Phase = CallState::Phase;

/// Returns `state` (empty if null) with the records applied that the journal holds after it; collects the
/// places of calls.
Result<State> fold_on(Journal& journal, const SessionId& id, std::optional<State> state, CallPlaces& places) {
  const auto entries = read_some_entries(journal, id, state ? state->seq + 1 : 1, 0);
  if (!entries) return fail(entries.error());
  State folded = state ? *std::move(state) : State{};
  for (const Entry& entry : *entries) {
    const auto stored = decode_entry(journal, id, entry);
    if (!stored) return fail(stored.error());
    if (auto applied = apply_to(folded, stored->record); !applied) return fail(applied.error());
    places.add(folded);
  }
  return folded;
}

enum class Below : std::uint8_t { kIdle, kWaits, kWorks };  // what a sub-agent does

/// True when each call in progress of the session waits for an approval, itself or below it.
bool waits_below(const State& state, const std::function<Below(const ChildState&)>& what_does) {
  const TurnState& turn = *state.turn;
  if (turn.effect || turn.stop || !turn.in_flight()) return false;
  return std::ranges::all_of(turn.calls, [&](const CallState& call) {
    if (call.phase == Phase::kSettled || call.phase == Phase::kParked) return true;
    if (lacks_a_place(state, call)) return true;
    const auto any_below = [&](Below wanted) {
      return std::ranges::any_of(state.children, [&](const ChildState& child) {
        return child.call == call.call.id && what_does(child) == wanted;
      });
    };
    const bool asked = std::ranges::any_of(turn.calls.within(call.call.id), [&](std::uint32_t inner) {
      return turn.calls[inner].phase == Phase::kParked;
    });
    return call.phase == Phase::kRunning && (asked || any_below(Below::kWaits)) && !any_below(Below::kWorks);
  });
}

/// What the process that has a session open changes in its node.
void set_held(AgentNode& node, bool is_in_turn, bool held) {
  const bool works = node.status == SessionStatus::kRunning || node.status == SessionStatus::kModified;
  node.held = is_in_turn && held;
  if (works && !held) node.status = SessionStatus::kInterrupted;
}

AgentNode unreadable(const SessionRow& row, const Error& error) {
  AgentNode node;
  node.id = row.id;
  node.parent = row.parent;
  node.agent = row.agent;
  node.path = row.agent;
  node.status = SessionStatus::kError;
  node.comment = error.message;
  return node;
}

}  // namespace

/// Reads the logs of a journal and caches their states.
class JournalTree::Reader {
 public:
  Reader(std::shared_ptr<Journal> journal, Scope scope)
      : journal_(std::move(journal)), scope_(std::move(scope)) {}

  Status refresh();
  std::vector<AgentNode> nodes() const;
  /// The conversation of the session at the top of the scope, as last read. Error as from reading it.
  const Result<History>& conversation() const { return conversation_; }

 private:
  struct Known {
    std::uint64_t entries = 0;
    AgentNode node;
    std::optional<State> state;  ///< kept while a turn is in progress, because its log will grow
    CallPlaces places;           ///< of the calls that made its sub-agents
    bool held = false;           ///< a process has the session open
  };
  Result<std::vector<SessionRow>> rows() const;
  Status collect(const SessionRow& top, std::vector<SessionRow>& rows) const;
  void read(const SessionRow& row, Known& known);
  bool waits(const Known& known, int levels) const;
  bool is_left(const Known& known, int levels) const;

  std::shared_ptr<Journal> journal_;
  Scope scope_;
  std::map<SessionId, Known> known_;
  Result<History> conversation_;
};

JournalTree::JournalTree(std::shared_ptr<Journal> journal, Scope scope)
    : reader_(std::make_unique<Reader>(std::move(journal), std::move(scope))) {}
JournalTree::~JournalTree() = default;
JournalTree::JournalTree(JournalTree&&) noexcept = default;
JournalTree& JournalTree::operator=(JournalTree&&) noexcept = default;

Status JournalTree::refresh() { return reader_->refresh(); }
std::vector<AgentNode> JournalTree::nodes() const { return reader_->nodes(); }

Status JournalTree::Reader::collect(const SessionRow& top, std::vector<SessionRow>& rows) const {
  std::set<SessionId> seen{top.id};
  rows.push_back(top);
  for (std::size_t next = rows.size() - 1; next < rows.size(); ++next) {
    auto children = journal_->children(rows[next].id);
    if (!children) return fail(children.error());
    for (SessionRow& child : *children) {
      if (seen.insert(child.id).second) rows.push_back(std::move(child));
    }
  }
  return {};
}

Result<std::vector<SessionRow>> JournalTree::Reader::rows() const {
  std::vector<SessionRow> rows;
  if (!scope_.root.empty()) {
    auto top = journal_->session(scope_.root);
    if (!top) return fail(top.error());
    if (auto collected = collect(*top, rows); !collected) return fail(collected.error());
    return rows;
  }
  auto all = journal_->sessions();
  if (!all || scope_.last_roots == 0) return all;
  std::size_t left = scope_.last_roots;
  for (const SessionRow& row : *all) {
    if (!row.parent.empty()) continue;
    if (left-- == 0) break;
    if (auto collected = collect(row, rows); !collected) return fail(collected.error());
  }
  return rows;
}

void JournalTree::Reader::read(const SessionRow& row, Known& known) {
  if (!known.state) known.places = {};
  auto state = fold_on(*journal_, row.id, std::exchange(known.state, std::nullopt), known.places);
  known.node = state ? node_of(*state) : unreadable(row, state.error());
  known.node.created = row.created;
  known.node.updated = row.updated;
  known.entries = row.entries;
  if (row.id == scope_.root)
    conversation_ = state ? Result<History>(state->conversation.history()) : fail(state.error());
  if (state && state->turn) known.state = *std::move(state);
}

Status JournalTree::Reader::refresh() {
  auto present = rows();
  if (!present) return fail(present.error());
  std::map<SessionId, Known> known;
  for (const SessionRow& row : *present) {
    if (row.entries == 0) continue;  // created, but without records
    auto before = known_.extract(row.id);
    Known& now = known[row.id];
    if (!before.empty()) now = std::move(before.mapped());
    if (now.entries != row.entries) read(row, now);
    now.held = row.held;
  }
  known_ = std::move(known);
  return {};
}

/// True when everything that works for the session waits for an approval; then the session waits too.
bool JournalTree::Reader::waits(const Known& known, int levels) const {
  if (known.node.status == SessionStatus::kAwaitingUser) return true;
  if (!known.state || levels == 0) return false;
  return waits_below(*known.state, [&](const ChildState& child) {
    const auto is = known_.find(child.id);
    if (is == known_.end() || !is->second.state) return Below::kIdle;
    return waits(is->second, levels - 1) ? Below::kWaits : Below::kWorks;
  });
}

/// True for a sub-agent that is in a turn for ever: the call above is over, or the session above is itself
/// left so, and no process has the sub-agent open.
bool JournalTree::Reader::is_left(const Known& known, int levels) const {
  const auto above = known_.find(known.node.parent);
  if (!known.state || known.held || above == known_.end() || levels == 0) return false;
  const Known& parent = above->second;
  if (!parent.state || is_left(parent, levels - 1)) return true;
  const auto child = std::ranges::find(parent.state->children, known.node.id, &ChildState::id);
  if (child == parent.state->children.end()) return false;
  const CallState* call = parent.state->find_call(child->call);
  return call == nullptr || call->phase == Phase::kSettled;
}

std::vector<AgentNode> JournalTree::Reader::nodes() const {
  std::vector<LooseNode> loose;
  for (const auto& [id, known] : known_) {
    loose.push_back({known.node});
    const auto above = known_.find(known.node.parent);
    if (above != known_.end()) loose.back().place = above->second.places.find(id);
    if (waits(known, kMostLevels)) loose.back().node.status = SessionStatus::kAwaitingUser;
    AgentNode& node = loose.back().node;
    set_held(node, known.state.has_value(), known.held);
    if (is_left(known, kMostLevels)) node.status = SessionStatus::kError;
  }
  return arrange(std::move(loose));
}

AgentNode lone_node(const State& state, const SessionRow& row) {
  AgentNode node = node_of(state);
  node.created = row.created;
  node.updated = row.updated;
  const bool is_in_turn = state.turn.has_value();
  if (is_in_turn && waits_below(state, [](const ChildState&) { return Below::kIdle; }))
    node.status = SessionStatus::kAwaitingUser;
  set_held(node, is_in_turn, row.held);
  node.subtree = node.usage;
  return node;
}

Result<AgentState> agent_state(const std::shared_ptr<Journal>& journal, const SessionId& id) {
  if (!journal->session(id)) return fail(ErrorCode::kInput, "no session is called \"" + id.str() + "\"");
  JournalTree tree(journal, {.root = id});
  if (auto read = tree.refresh(); !read) return fail(read.error());
  const Result<History>& conversation = tree.reader_->conversation();
  if (!conversation) return fail(conversation.error());
  const auto nodes = tree.nodes();
  if (nodes.empty()) return fail(ErrorCode::kJournal, "the session \"" + id.str() + "\" has no records");
  return AgentState{nodes.front(), *conversation};
}

}  // namespace praxis
