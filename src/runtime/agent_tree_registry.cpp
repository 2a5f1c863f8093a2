#include "runtime/agent_tree_registry.hpp"

#include <algorithm>
#include <utility>

#include "praxis/core/state.hpp"
#include "runtime/agent_tree_nodes.hpp"

namespace praxis {

namespace {

/// Updates what the node waits for. Most records change nothing about it.
void show_wait(AgentNode& node, const State& state) {
  const bool has_effect = state.turn && state.turn->effect;
  const bool is_same = has_effect && node.waits && node.waits->since == state.turn->effect->began &&
                       node.waits->attempt == state.turn->effect->attempt &&
                       state.turn->effect->phase == EffectState::Phase::kRunning;
  if (is_same) return;
  if (!has_effect && !node.waits && state.parked.empty()) return;
  node.waits = wait_of(state);
}

}  // namespace

/// Filtering the texts costs time, and they stay the same.
void AgentRegistry::show_waiting(Entry& entry, const State& state) {
  std::vector<std::uint64_t> ids;
  for (const auto* list : {&state.steering, &state.queue}) {
    for (const WaitingMessage& each : *list) ids.push_back(each.id);
  }
  if (ids == entry.waiting && (ids.empty() || entry.filters == state.agent)) return;
  entry.waiting = std::move(ids);
  entry.filters = state.agent;
  entry.node.waiting = waiting_of(state);
}

std::unique_ptr<AgentRegistry::Place> AgentRegistry::enter(const SessionId& root, const State& state,
                                                           UnixMillis created) {
  auto entry = std::make_shared<Entry>();
  entry->node = node_of(state);
  entry->node.created = entry->node.updated = created;
  if (state.turn) {
    entry->turn = state.turn->id;
    entry->task = state.turn->task;
  }
  entry->parked = {state.next_park, state.parked.size()};
  entry->earlier = state.settled_children;
  entry->recorded = state.children;
  const std::lock_guard lock(mutex_);
  Tree& tree = trees_[root];
  if (root == state.id) tree = {};
  std::shared_ptr<Entry>& own = tree.entries[state.id];
  if (own) entry->places = std::move(own->places);
  entry->places.add(state);
  own = entry;
  return std::make_unique<Place>(*this, root, std::move(entry));
}

std::optional<events::AgentStatus> AgentRegistry::Place::show(const State& state, SessionStatus status,
                                                              std::optional<UnixMillis> updated,
                                                              bool sleeps) {
  const TurnState* turn = state.turn ? &*state.turn : nullptr;
  const std::lock_guard lock(registry_.mutex_);
  Entry& entry = *entry_;
  AgentNode& node = entry.node;
  const bool was_idle = !entry.shown && status == SessionStatus::kIdle;  // as every session begins
  bool changed = !was_idle && (!entry.shown || node.status != status || node.paused != state.paused);
  entry.shown = true;
  entry.sleeps = sleeps;
  node.status = status;
  node.paused = state.paused;
  node.held = turn != nullptr;
  node.usage = state.usage;
  node.step = turn != nullptr ? turn->step : 0;
  node.ended_turns = state.ended_turns;
  node.turn_began = turn != nullptr ? turn->report.started_at : UnixMillis{};
  entry.places.add(state);
  if (updated) node.updated = *updated;
  show_wait(node, state);
  if (node.comment != state.comment) {
    node.comment = state.comment;
    changed = true;
  }
  if (turn != nullptr && (entry.turn != turn->id || entry.task != turn->task)) {
    entry.turn = turn->id;
    entry.task = turn->task;
    node.content = content_of(state);
    changed = true;
  }
  if (node.agent != state.agent->id) node.agent = state.agent->id;
  if (node.metadata != state.agent->metadata) node.metadata = state.agent->metadata;
  const std::pair parked(state.next_park, state.parked.size());
  if (entry.parked != parked) {
    entry.parked = parked;
    node.pending = pending_of(state, std::move(node.pending));
  }
  show_waiting(entry, state);
  if (!changed) return std::nullopt;
  return events::AgentStatus{node.status, node.paused, node.content, node.comment};
}

void AgentRegistry::Place::lost() {
  const std::lock_guard lock(registry_.mutex_);
  entry_->node.status = SessionStatus::kError;
  entry_->node.held = false;
}

void AgentRegistry::leave(const SessionId& root, Entry& entry) {
  const std::lock_guard lock(mutex_);
  entry.awake = false;
  const auto tree = trees_.find(root);
  if (tree == trees_.end()) return;
  const auto own = tree->second.entries.find(entry.node.id);
  if (own == tree->second.entries.end() || own->second.get() != &entry) return;
  if (entry.node.id == root) {
    trees_.erase(tree);
    return;
  }
  tree->second.ended.push_back(entry.node.id);
  if (tree->second.ended.size() > kMaxEnded) forget_oldest(tree->second);
}

void AgentRegistry::forget_oldest(Tree& tree) {
  const auto oldest = tree.entries.find(tree.ended.front());
  tree.ended.pop_front();
  if (oldest == tree.entries.end() || oldest->second->awake) return;
  const Entry& gone = *oldest->second;
  if (const auto parent = tree.entries.find(gone.node.parent); parent != tree.entries.end()) {
    parent->second->earlier += gone.node.usage + gone.earlier;
    parent->second->places.forget(gone.node.id);
    std::erase_if(parent->second->recorded, [&](const ChildState& c) { return c.id == gone.node.id; });
  }
  tree.entries.erase(oldest);
}

std::set<SessionId> AgentRegistry::asleep() const {
  std::set<SessionId> asleep;
  const std::lock_guard lock(mutex_);
  for (const auto& [root, tree] : trees_) {
    for (const auto& [id, entry] : tree.entries) {
      if (entry->sleeps) asleep.insert(id);
    }
  }
  return asleep;
}

std::vector<AgentNode> AgentRegistry::snapshot() const {
  std::vector<LooseNode> loose;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [root, tree] : trees_) {
      for (const auto& [id, entry] : tree.entries) {
        LooseNode& copy = loose.emplace_back(LooseNode{entry->node, entry->earlier});
        const auto above = tree.entries.find(entry->node.parent);
        if (above != tree.entries.end()) copy.place = above->second->places.find(id);
        for (const ChildState& child : entry->recorded) {
          if (!tree.entries.contains(child.id)) copy.unlisted += child.usage;
        }
      }
    }
  }
  return arrange(std::move(loose));
}

}  // namespace praxis
