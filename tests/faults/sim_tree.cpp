// The sub-agents of a simulated process: handlers create and run them, as src/runtime/call_scope.cpp and
// live_child.cpp do with threads.
#include <algorithm>
#include <utility>

#include "praxis/logs/logs.hpp"
#include "sim_world.hpp"

namespace praxis::faults::sim {
namespace {

constexpr int kMostTries = 50;  // to take a session that its last owner still holds

/// The prompt and the result of the first turn of a sub-agent.
struct RecordedTurn {
  std::string prompt;
  std::optional<AgentResult> result;
};

std::optional<RecordedTurn> first_turn(const Log& log) {
  std::optional<RecordedTurn> turn;
  for (const StoredRecord& stored : log) {
    if (std::holds_alternative<records::TurnStarted>(stored.record.body)) turn.emplace();
    if (!turn) continue;
    const auto* said = std::get_if<records::MessageAppended>(&stored.record.body);
    if (said != nullptr && said->source == MessageSource::kUser && turn->prompt.empty())
      turn->prompt = said->message->text();
    if (!std::holds_alternative<records::TurnSettled>(stored.record.body)) continue;
    if (const auto state = fold(log, stored.seq)) turn->result = result_of(*state);
    return turn;
  }
  return turn;
}

}  // namespace

/// Returns a key for a sub-agent or a call within a call, which stays the same when the handler runs again
/// after a crash.
std::string World::key_of(Work& work, const std::string& identity) {
  return identity + "#" + std::to_string(++work.occurrences[identity]);
}

/// How many sub-agents a call has: the same when its handler runs again.
std::size_t World::width_of(const ToolCallPart& call) const {
  if (play_ == Play::kMixed) return 1 + call.arguments.size() % 2;
  std::size_t sum = 0;
  for (const char c : call.arguments) sum = sum * 31 + static_cast<unsigned char>(c);
  return sum % 8 == 0 ? 8 : 1 + sum % 4;
}

void World::delegate(Work* work) {
  const Node& node = *work->node;
  const std::string prompt = "work on " + work->call.arguments;
  std::vector<AgentSpec> agents;
  if (work->call.name == "helper") {
    agents.push_back(helper_agent());
  } else {
    for (std::size_t i = 0; i < width_of(work->call); ++i) {
      agents.push_back(play_ == Play::kTrees ? branch_agent(node.depth, i)
                                             : worker_agent(*node.agent, node.depth, i));
    }
  }
  work->waits_for = agents.size();
  for (AgentSpec& agent : agents) {
    // Stays within what the agents above allow.
    JsonArray bounds = node.agent->bounds.is_array() ? node.agent->bounds.get_array() : JsonArray{};
    if (!node.agent->policy.is_null()) bounds.push_back(node.agent->policy);
    agent.bounds = std::move(bounds);
    Sub sub{work, nullptr, key_of(*work, agent.id), prompt, {}};
    sub.agent = std::make_shared<const AgentSpec>(std::move(agent));
    agenda_.post([this, sub = std::move(sub)] { spawn(sub); });
  }
}

/// Records the sub-agent in the log of the session above, or finds the one that is recorded.
void World::spawn(const Sub& sub) {
  Work* work = sub.work;
  if (work->stopped || work->closed) return child_ended(work, fail(ErrorCode::kCancelled, "asked to stop"));
  const auto child = std::make_shared<SessionId>();
  const auto inputs = [&](const State& s) -> Result<std::vector<RecordBody>> {
    const CallState* caller = s.find_call(work->call.id);
    if (caller == nullptr || caller->phase != CallState::Phase::kRunning)
      return fail(driver::call_is_over(work->call.id));
    const auto known = std::ranges::find_if(
        s.children, [&](const ChildState& c) { return c.call == work->call.id && c.key == sub.key; });
    if (known != s.children.end()) {
      *child = known->id;
      return std::vector<RecordBody>{};
    }
    *child = SessionId{"s" + vendor_.number()};
    return std::vector<RecordBody>{records::ChildSpawned{*child, work->call.id, sub.agent->id, sub.key}};
  };
  submit(*work->node, inputs, [this, sub, child](const Status& durable) {
    if (!durable) return child_ended(sub.work, fail(durable.error()));
    Sub recorded = sub;
    recorded.id = *child;
    attach(recorded, 0);
  });
}

/// Creates or opens the session of a recorded sub-agent.
void World::attach(const Sub& sub, int tries) {
  Work* work = sub.work;
  Node& above = *work->node;
  if (work->closed || above.gave_up || above.gone)
    return child_ended(work, fail(ErrorCode::kInput, "the call is over"));
  const auto again = [&](Error error) {
    if (tries == kMostTries) return child_ended(work, fail(std::move(error)));
    agenda_.after(Millis{10}, [this, sub, tries] { attach(sub, tries + 1); });
  };
  const Node* active = find(sub.id);
  // The session of an earlier attempt has not left memory yet.
  if (active != nullptr) return again(make_error(ErrorCode::kInput, "the sub-agent is still active"));
  const auto row = disk_->session(sub.id);
  const bool exists = row && row->entries != 0;
  if (!exists) {
    auto lease = disk_->create(sub.id, clock_.now());
    if (!lease) lease = disk_->acquire(sub.id);
    if (!lease) return again(std::move(lease.error()));
    State fresh;
    fresh.id = sub.id;
    Node& made = make_node(*std::move(lease), sub.agent, std::move(fresh), &above, work->call.id);
    begin(made);
    return start_child(sub, made, false);
  }
  auto opened = open(sub.id, sub.agent, &above, work->call.id);
  if (!opened && opened.error().kind() == ErrorKind::kLeaseHeld) return again(std::move(opened.error()));
  if (!opened) return child_ended(work, fail(opened.error()));
  start_child(sub, **opened, true);
}

/// Starts the turn of a sub-agent, resumes it, or takes its result from the log.
void World::start_child(const Sub& sub, Node& child, bool recorded) {
  Work* work = sub.work;
  work->children.push_back(&child);
  if (work->stopped) {  // after the request to stop has reached the other sub-agents
    stop_child(*work, child);
    return child_ended(work, fail(ErrorCode::kCancelled, "asked to stop"));
  }
  const auto done = [this, work](const Result<AgentResult>& result) { child_ended(work, result); };
  const auto turn = recorded ? first_turn(kept_[sub.id].log) : std::nullopt;
  if (!turn || turn->prompt != sub.prompt) {
    std::vector<Message> messages;
    messages.push_back(text_message(Role::kUser, sub.prompt));
    ask(child, std::move(messages), true, done);
  } else if (turn->result) {
    const State& s = state(child);
    const StopReason reason = s.last ? s.last->reason.value_or(StopReason::kFinished) : StopReason::kFinished;
    const records::ChildSettled settled{s.id, reason, s.subtree_usage(), s.subtree_calls()};
    send_up(*work->node, driver::ChildEnded{settled, true});
    agenda_.post([done, result = *turn->result] { done(result); });
  } else if (const auto refused = (state(child), child.driver->refuses_resume())) {
    agenda_.post([done, refused] { done(fail(*refused)); });
  } else {
    const driver::Token reader = ++tokens_;
    child.readers[reader] = done;
    feed(child, driver::ResumeRequested{{reader, true}, {}});
  }
  if (!random_.once_in(20)) return;
  driver::RecordsGiven steered;
  steered.records.emplace_back(
      records::Intervened{CommandVerb::kSteer, "steer " + vendor_.number(), nullptr});
  steered.resumes = true;
  feed(child, std::move(steered));
}

void World::child_ended(Work* work, const Result<AgentResult>& result) {
  if (work->closed) return;
  if (!result) return end_tool(work, fail(result.error()));
  work->said += result->text + "; ";
  if (--work->waits_for == 0) say(work, work->said);
}

void World::perform(Node& node, driver::CloseLeft& action) {
  for (const SessionId& child : action.children) {
    agenda_.post([this, &node, child] { feed(node, close_left(child)); });
  }
}

/// Stops the turn of a sub-agent that no process has.
driver::ChildClosed World::close_left(const SessionId& child) {
  const auto kept = kept_.find(child);
  if (kept == kept_.end()) return {child};
  const State& state = kept->second.state;
  if (state.turn && find(child) == nullptr)
    (void)record_at_rest(child, Commands{{CommandVerb::kInterrupt, child}});
  const auto reason = state.last ? state.last->reason : std::nullopt;
  return {child, records::ChildSettled{child, reason.value_or(StopReason::kCancelled), state.subtree_usage(),
                                       state.subtree_calls()}};
}

/// When the session above was abandoned rather than stopped, so are those below, and their logs do not
/// change.
void World::stop_child(const Work& work, Node& child) {
  feed(child, driver::Retired{});
  if (work.node->gave_up) {
    feed(child, driver::Abandoned{});
  } else {
    feed(child, driver::InterruptRequested{});
  }
}

void World::stop_children(Work& work) {
  for (Node* child : work.children) stop_child(work, *child);
}

/// Lets the sub-agents of a call leave memory when their turns have ended.
void World::close_children(Work* work, std::function<void()> then) {
  const auto left = std::make_shared<std::size_t>(1);
  const auto ended = [this, work, left, then = std::move(then)] {
    if (--*left != 0) return;
    for (Node* child : work->children) {
      child->leaving = true;
      leave_when_quiet(*child);
    }
    then();
  };
  for (Node* child : work->children) {
    if (child->gone) continue;
    ++*left;
    child->waiters[++tokens_] = [ended](const Result<std::uint64_t>&) { ended(); };
    feed(*child, driver::TurnEndAwaited{tokens_});
  }
  ended();
}

}  // namespace praxis::faults::sim
