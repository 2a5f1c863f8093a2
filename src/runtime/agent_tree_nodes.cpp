#include "runtime/agent_tree_nodes.hpp"

#include <algorithm>
#include <limits>
#include <ranges>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/patience.hpp"
#include "policy/filters.hpp"
#include "praxis/base/utf8.hpp"
#include "praxis/core/state.hpp"
#include "praxis/json/json.hpp"

namespace praxis {
namespace {

/// Drops the end of a cut text, up to the last blank: what redacts the text later must not meet the half of a
/// key. Words that are too long for a key stay.
void drop_cut_word(std::string& text) {
  const auto word = std::find_if(text.rbegin(), text.rend(), [](char c) { return c <= ' ' || c == '\x7f'; });
  const auto length = static_cast<std::size_t>(word - text.rbegin());
  if (length <= kLongestCutWord) text.resize(text.size() - length);
}

/// A text of the run, filtered before it is cut: a filter does not find the half of a match.
std::string shown_head(const State& state, std::string text) {
  if (const auto filters = state.agent ? filters::filters_of(*state.agent) : nullptr)
    text =
        redact::Redaction().then(filters::text_rule(filters, filters::Point::kShown)).text(std::move(text));
  return cut_node_text(std::move(text));
}

class Arranger {
 public:
  explicit Arranger(std::vector<LooseNode> loose) : loose_(std::move(loose)) {
    const auto place = [](const LooseNode& of) {
      return std::pair(!of.place, of.place.value_or(CallPlace{}));
    };
    std::ranges::sort(loose_, [&](const LooseNode& a, const LooseNode& b) {
      return std::tuple(place(a), a.node.created, a.node.id) <
             std::tuple(place(b), b.node.created, b.node.id);
    });
    for (std::size_t i = 0; i < loose_.size(); ++i) places_[loose_[i].node.id] = i;
    for (std::size_t i = 0; i < loose_.size(); ++i) {
      const auto parent = places_.find(loose_[i].node.parent);
      if (parent == places_.end()) {
        roots_.push_back(i);
      } else {
        loose_[parent->second].node.children.push_back(loose_[i].node.id);
      }
    }
  }

  std::vector<AgentNode> take() {
    out_.reserve(loose_.size());
    for (const std::size_t root : roots_) add(loose_[root]);
    return std::move(out_);
  }

 private:
  Usage add(LooseNode& loose) {
    const std::size_t place = out_.size();
    Usage subtree = loose.node.usage + loose.unlisted;
    out_.push_back(std::move(loose.node));
    const std::vector<SessionId> children = out_[place].children;
    for (const SessionId& child : children) subtree += add(loose_[places_.at(child)]);
    return out_[place].subtree = subtree;
  }

  std::vector<LooseNode> loose_;
  std::map<SessionId, std::size_t> places_;
  std::vector<std::size_t> roots_;
  std::vector<AgentNode> out_;
};

}  // namespace

std::string task_of(const State& state) {
  if (state.turn) return state.turn->task.empty() ? state.turn->prompt : state.turn->task;
  if (!state.last_task.empty()) return state.last_task;
  for (const MessagePtr& message : state.conversation.history().messages() | std::views::reverse) {
    if (message->role == Role::kUser) return message->text();
  }
  return {};
}

std::string content_of(const State& state) { return shown_head(state, task_of(state)); }

std::string cut_node_text(std::string text) {
  if (text.size() > kMaxNodeContent) {
    text.resize(utf8_head(text, kMaxNodeContent).size());
    drop_cut_word(text);
  }
  return text;
}

std::string waiting_text(const State& state, std::uint64_t id) {
  for (const auto* list : {&state.steering, &state.queue}) {
    const auto found = std::ranges::find(*list, id, &WaitingMessage::id);
    if (found != list->end()) return found->text;
  }
  return {};
}

std::vector<WaitingMessage> waiting_of(const State& state) {
  constexpr std::size_t kMostWaiting = 20;
  std::vector<WaitingMessage> waiting;
  for (const auto* list : {&state.steering, &state.queue}) {
    for (const WaitingMessage& each : *list) {
      if (waiting.size() < kMostWaiting)
        waiting.push_back({each.id, each.verb, shown_head(state, each.text)});
    }
  }
  return waiting;
}

std::vector<ParkedStep> pending_of(const State& state, std::vector<ParkedStep> before) {
  const std::size_t prefix = qualified_id(state.id, ParkId{}).str().size();
  const auto own_id = [&](const ParkedStep& step) { return std::string_view(step.id.str()).substr(prefix); };
  std::vector<ParkedStep> pending;
  pending.reserve(state.parked.size());
  auto known = before.begin();
  for (const auto& [id, step] : state.parked) {  // in the order of `before`
    while (known != before.end() && own_id(*known) < id.str()) ++known;
    if (known != before.end() && own_id(*known) == id.str()) {
      pending.push_back(std::move(*known++));
      continue;
    }
    pending.push_back(step);
    pending.back().id = qualified_id(state.id, id);
  }
  return pending;
}

SessionStatus shown_status(const State& state) {
  if (state.deleted) return SessionStatus::kDeleted;
  const SessionStatus status = state.status();
  const bool modified = state.turn && state.turn->modified && status == SessionStatus::kRunning;
  return modified ? SessionStatus::kModified : status;
}

std::optional<NodeWait> wait_of(const State& state) {
  if (!state.turn) return std::nullopt;
  const auto& effect = state.turn->effect;
  if (!effect || effect->phase != EffectState::Phase::kRunning) {
    const bool asks = !state.parked.empty() && state.status() == SessionStatus::kAwaitingUser;
    return asks ? std::optional(NodeWait{"human", {}, {}, {}}) : std::nullopt;
  }
  NodeWait wait{"model", state.agent->model, effect->began, {}, effect->attempt};
  const bool is_timer = effect->kind == EffectKind::kTimer;
  if (effect->delay.count() != 0) wait.until = effect->began + effect->delay;
  if (is_timer) {
    wait.until = effect->began + std::max(effect->delay - effect->waited, Millis{0});
    wait.reason = "timer";
    wait.what.clear();
  } else if (effect->delay.count() != 0) {
    wait.reason = "retry";
    EffectState failed = *effect;
    failed.error = state.turn->report.retries.last_error;
    if (failed.error) wait.what = failed.error->message;
    if (!waits_out(state, failed)) wait.attempts = state.agent->limits.max_model_attempts + effect->outages;
  }
  return wait;
}

AgentNode node_of(const State& state) {
  AgentNode node;
  node.id = state.id;
  node.parent = state.parent;
  node.agent = state.agent->id;
  node.path = state.path;
  node.depth = state.depth;
  node.status = shown_status(state);
  node.paused = state.paused;
  node.content = content_of(state);
  node.comment = state.comment;
  node.metadata = state.agent->metadata;
  node.usage = state.usage;
  node.step = state.turn ? state.turn->step : 0;
  node.ended_turns = state.ended_turns;
  node.turn_began = state.turn ? state.turn->report.started_at : UnixMillis{};
  node.waits = wait_of(state);
  node.pending = pending_of(state);
  node.waiting = waiting_of(state);
  return node;
}

namespace {

/// Place of a call in the batch in progress; after all others if it is not there.
CallPlace place_in_batch(const TurnState& turn, const CallId& call) {
  constexpr auto kLast = std::numeric_limits<std::uint32_t>::max();
  const auto position = [&](const CallId& id) {
    const CallState* const found = turn.calls.find(id);
    return found != nullptr ? turn.calls.position(*found) : turn.calls.size();
  };
  const std::size_t own = position(call);
  std::size_t outermost = own;
  for (std::size_t levels = 0; outermost < turn.calls.size() && levels < turn.calls.size(); ++levels) {
    if (turn.calls[outermost].within.empty()) break;
    outermost = position(turn.calls[outermost].within);
  }
  if (outermost >= turn.calls.size()) return {0, kLast, kLast, 0};
  return {0, static_cast<std::uint32_t>(outermost), static_cast<std::uint32_t>(own), 0};
}

}  // namespace

void CallPlaces::add(const State& state) {
  if (state.children.size() < seen_) seen_ = 0;  // those of a turn that is over
  if (state.children.size() == seen_ || !state.turn) return;
  const TurnState& turn = *state.turn;
  if (turn.id != turn_ || turn.step != step_) {
    turn_ = turn.id;
    step_ = turn.step;
    ++batch_;
  }
  for (; seen_ < state.children.size(); ++seen_) {
    CallPlace place = place_in_batch(turn, state.children[seen_].call);
    place.batch = batch_;
    place.nth = nth_++;
    places_.try_emplace(state.children[seen_].id, place);
  }
}

std::optional<CallPlace> CallPlaces::find(const SessionId& child) const {
  const auto found = places_.find(child);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<AgentNode> arrange(std::vector<LooseNode> loose) { return Arranger(std::move(loose)).take(); }

namespace {

Json wait_json(const NodeWait& wait) {
  JsonObject out{{"reason", wait.reason}};
  if (!wait.what.empty()) out["what"] = wait.what;
  if (wait.since.value != 0) out["since"] = to_iso8601(wait.since);
  if (wait.until.value != 0) out["until"] = to_iso8601(wait.until);
  if (wait.attempt != 1) out["attempt"] = wait.attempt;
  if (wait.attempts != 0) out["attempts"] = wait.attempts;
  return out;
}

}  // namespace

Millis time_in_turns(const AgentNode& node, UnixMillis now) {
  if (node.turn_began == UnixMillis{}) return node.ended_turns;
  // A branch is younger than its records.
  return node.ended_turns + std::max(Millis{0}, (node.held ? now : node.updated) - node.turn_began);
}

Json to_json(const AgentNode& node) {
  JsonArray children, pending, waiting;
  for (const SessionId& child : node.children) children.emplace_back(child.str());
  for (const ParkedStep& step : node.pending) pending.push_back(to_json(step));
  for (const WaitingMessage& each : node.waiting)
    waiting.push_back(JsonObject{{"id", each.id}, {"verb", to_string(each.verb)}, {"text", each.text}});
  return JsonObject{
      {"id", node.id.str()},
      {"parent", node.parent.empty() ? Json(nullptr) : Json(node.parent.str())},
      {"children", std::move(children)},
      {"agent", node.agent},
      {"path", node.path},
      {"depth", node.depth},
      {"status", to_string(node.status)},
      {"paused", node.paused},
      {"held", node.held},
      {"content", node.content},
      {"comment", node.comment},
      {"metadata", node.metadata},
      {"usage", JsonObject{{"self", to_json(node.usage)}, {"subtree", to_json(node.subtree)}}},
      {"step", node.step},
      {"created", to_iso8601(node.created)},
      {"updated", to_iso8601(node.updated)},
      {"ended_turns_ms", node.ended_turns.count()},
      {"turn_began", node.turn_began == UnixMillis{} ? Json(nullptr) : Json(to_iso8601(node.turn_began))},
      {"waits", node.waits ? wait_json(*node.waits) : Json(nullptr)},
      {"pending", std::move(pending)},
      {"waiting", std::move(waiting)},
  };
}

Json to_json(const AgentState& state) {
  JsonArray messages;
  for (const MessagePtr& message : state.history.messages()) messages.push_back(to_json(*message));
  Json json = to_json(state.node);
  json.as_object()["messages"] = std::move(messages);
  return json;
}

}  // namespace praxis
