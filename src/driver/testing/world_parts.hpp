// For tests: the parts of `World` that carry out actions, offer the next events, and check the invariants.
#pragma once

#include "driver/testing/world.hpp"

namespace praxis::driver {

// ---- sessions

inline Node& World::make_node(SessionId id, AgentSpec agent, std::shared_ptr<const ParentAddress> parent) {
  auto node = std::make_unique<Node>();
  node->id = id;
  node->setup.agent = std::make_shared<const AgentSpec>(std::move(agent));
  node->setup.planner = std::make_shared<const ModelPlanner>();
  node->setup.lease = {id, 1};
  node->setup.parent = parent;
  node->setup.hooks = scenario_.hooks;
  node->setup.model.price = [](const Usage& usage) { return MicroUsd{usage.total()}; };
  node->setup.bounded_above = scenario_.budget;
  State fresh;
  fresh.id = id;
  node->driver = std::make_unique<TurnDriver>(node->setup, std::move(fresh));
  nodes_.push_back(std::move(node));
  Node& made = *nodes_.back();
  records::SessionCreated created;
  created.session = id;
  created.seed = 7;
  created.agent = made.setup.agent;
  if (parent) {
    created.parent = parent->session;
    created.depth = 1;
  }
  give(made, {std::move(created)});
  return made;
}

inline void World::revive(Node& node) {
  if (node.driver->has_state()) return;
  Actions none;
  node.driver->restore(fold_log(node.log, node.id), none);
  if (!none.empty()) complain(node, "was suspended while something was on the way to the log");
}

inline Moment World::moment() {
  Moment now;
  now.wall = UnixMillis{1'000'000} + std::chrono::duration_cast<Millis>(now_);
  now.monotonic = now_;
  now.wanted = EventKinds().set();
  now.approver = scenario_.approver ? 1 : approver_;
  return now;
}

/// The process dies: everything that was not durable is lost, and another process takes the session over.
inline void World::crash() {
  crashed_ = true;
  Node& node = root();
  const Setup setup = node.setup;
  const SessionId id = node.id;
  std::vector<Record> log = std::move(node.log);
  node = Node{};
  node.id = id;
  node.setup = setup;
  node.log = std::move(log);
  started_.clear();
  node.driver = std::make_unique<TurnDriver>(setup, fold_log(node.log, id));
  const State& state = node.driver->state();
  if (!state.turn && state.queue.empty()) return;
  node.results[++tokens_];
  feed(node, ResumeRequested{{tokens_, false}, {}});
}

// ---- actions of the driver

inline void World::carry_out(Node& node, AppendRecords& action) {
  check_alive(node, "an append");
  if (node.appending) complain(node, "two appends at once");
  if (action.append.expected_seq != node.log.size()) complain(node, "an append to another place");
  if (action.append.entries.empty() && action.append.answers.empty()) complain(node, "an empty append");
  std::vector<Record> records;
  for (const NewEntry& entry : action.append.entries) {
    auto body = decode_record(entry.kind, entry.body, [&](const Digest& digest) -> Result<std::string> {
      for (const Blob& blob : action.append.blobs) {
        if (blob.digest == digest) return blob.bytes;
      }
      return fail(ErrorCode::kJournal, "no such blob");
    });
    if (!body) return complain(node, body.error().message);
    if (const auto* changed = std::get_if<records::StatusChanged>(&*body);
        changed && changed->cause == "recovered" && !crashed_)
      complain(node, "recovers although nothing has crashed");
    records.push_back({entry.time, *std::move(body)});
  }
  node.appending = std::move(records);
}

/// Checks that no effect starts before its intent is durable, and no attempt starts twice.
inline void World::check_intent(Node& node, const EffectId& effect, std::uint32_t attempt, EffectKind kind) {
  check_alive(node, "a start");
  bool intended = false;
  for (const Record& record : node.log) {
    const auto* intent = std::get_if<records::EffectIntended>(&record.body);
    if (intent != nullptr && intent->effect == effect && intent->attempt == attempt && intent->kind == kind)
      intended = true;
    const auto* settled = std::get_if<records::EffectSettled>(&record.body);
    if (intended && settled != nullptr && settled->effect == effect)
      complain(node, effect.str() + " starts after it was settled");
  }
  if (!intended) complain(node, effect.str() + " starts before its intent is durable");
  const EffectId unique{node.id.str() + "/" + effect.str()};
  if (!started_.insert({unique, attempt}).second) complain(node, effect.str() + " starts twice");
  if (state(node).turn && state(node).turn->stop && *state(node).turn->stop != StopReason::kMaxToolCalls &&
      node.driver->runs(effect, attempt) == false)
    complain(node, effect.str() + " starts although the turn was stopped");
}

inline void World::carry_out(Node& node, StartModel& action) {
  check_intent(node, action.effect, action.attempt, EffectKind::kModel);
  node.running[action.effect] = {EffectKind::kModel, action.attempt, {}, action.ordinal};
  if (action.question.history.messages().empty()) complain(node, "the model is asked nothing");
}

inline void World::carry_out(Node& node, StartTool& action) {
  check_intent(node, action.effect, action.attempt, EffectKind::kTool);
  node.running[action.effect] = {EffectKind::kTool, action.attempt, action.call, 0};
  if (action.call.name != "careful") return;
  const bool approved = std::ranges::any_of(node.log, [&](const Record& record) {
    const auto* decided = std::get_if<records::Decided>(&record.body);
    return decided != nullptr && decided->call == action.call.id && decided->verb == ApprovalVerb::kApprove;
  });
  if (!approved) complain(node, "a call runs that was not approved");
}

inline void World::carry_out(Node& node, StopEffect& action) {
  if (const auto found = node.running.find(action.effect); found != node.running.end())
    found->second.stopped = true;
}

inline void World::carry_out(Node& node, DropEffect& action) { node.running.erase(action.effect); }

inline void World::carry_out(Node& node, ArmTimer& action) {
  check_alive(node, "a timer");
  if (!node.timers.emplace(action.timer, Node::Timer{now_ + action.delay}).second)
    complain(node, "a timer is armed twice");
}

inline void World::carry_out(Node& node, DisarmTimer& action) {
  if (node.timers.erase(action.timer) == 0) complain(node, "a timer is disarmed that is not armed");
}

inline void World::carry_out(Node& node, AskHooks& action) {
  check_alive(node, "a question to hooks");
  if (node.hooks) complain(node, "hooks are asked twice at once");
  node.hooks = std::move(action);
}

inline void World::carry_out(Node& node, driver::AskPerson& action) {
  check_alive(node, "a question to the handler");
  const bool durable = std::ranges::any_of(node.log, [&](const Record& record) {
    const auto* parked = std::get_if<records::Parked>(&record.body);
    return parked != nullptr && parked->step.id == action.step.id;
  });
  if (!durable) complain(node, "the handler is asked before the step is durable");
  for (const auto& [token, step] : node.questions) {
    if (step.id == action.step.id) complain(node, "the handler is asked about a step twice");
  }
  node.questions[action.question] = std::move(action.step);
}

inline void World::carry_out(Node& node, WithdrawQuestion& action) { node.questions.erase(action.question); }

inline void World::carry_out(Node& node, Publish& action) {
  node.events.emplace_back(event_name(action.event.body));
  if (action.event.seq > node.log.size() && !action.readers_only && !is_delta(action.event.body) &&
      !std::holds_alternative<events::HookFailed>(action.event.body))
    complain(node, node.events.back() + " is published before it is durable");
}

/// Checks that every reader gets the result once, after it is durable.
inline void World::carry_out(Node& node, FinishTurn& action) {
  const bool durable = std::ranges::any_of(node.log, [&](const Record& record) {
    const auto* settled = std::get_if<records::TurnSettled>(&record.body);
    return settled != nullptr && node.id.str() + "/" + settled->turn.str() == action.result.id;
  });
  if (!durable) complain(node, "a turn is finished before its end is durable");
  for (const Reader& reader : action.readers) node.results[reader.token].push_back(action.result);
}

inline void World::carry_out(Node& node, FinishReaders& action) {
  for (const Reader& reader : action.readers) {
    if (action.result) {
      if (action.result->status != SessionStatus::kAwaitingUser)
        complain(node, "a reader is left without the end of its turn");
      node.results[reader.token].push_back(*action.result);
    } else {
      node.errors[reader.token].push_back(action.result.error());
    }
  }
}

inline void World::carry_out(Node& node, ShowSession& action) {
  if (action.status == SessionStatus::kAwaitingUser && !node.driver->waits_for_people())
    complain(node, "is shown as waiting but does not wait");
}

inline void World::carry_out(Node& node, TellParent& action) {
  if (!node.setup.parent) return complain(node, "sends to a parent that it does not have");
  for (const auto& above : nodes_) {
    if (above->id != node.setup.parent->session) continue;
    std::visit(
        [&](auto& what) {
          above->inbox.push_back(
              [this, to = above.get(), of = node.setup.parent->call, what = std::move(what)] {
                if constexpr (std::is_same_v<std::remove_const_t<decltype(what)>, ChildLost>)
                  return hear(*to, of, what);
                feed(*to, what);
              });
        },
        action.what);
  }
}

inline void World::carry_out(Node& node, AnswerWaiter& action) {
  ++node.answers[action.waiter];
  if (node.resting.erase(action.waiter) != 0 && !node.gave_up) {
    const State& now = state(node);
    if (now.turn && !now.paused && !node.driver->waits_for_people())
      complain(node, "reports rest in the middle of a turn");
  }
  const auto promised = node.promised.find(action.waiter);
  if (promised != node.promised.end() && action.durable && promised->second > node.log.size())
    complain(node, "a caller is answered before its records are durable");
}

inline void World::carry_out(Node& node, HandBack& action) {
  const auto caller = node.callers.extract(action.waiter);
  if (!caller) return complain(node, "a result is handed back to no caller, or twice");
  const auto& [asking, effect] = caller.mapped();
  if (const auto running = asking->running.find(effect); running != asking->running.end())
    running->second.waits = false;
  if (!action.outcome) return;
  const State durable = fold_log(node.log, node.id);
  const CallState* call = durable.find_call(action.outcome->result.id);
  if (call == nullptr || call->phase != CallState::Phase::kSettled)
    complain(node, "a result is handed back before it is durable");
}

inline void World::carry_out(Node& node, ReserveBudget& action) {
  check_alive(node, "a reservation");
  if (!scenario_.budget) {  // as the shell answers when nothing is limited
    node.granted.insert(action.request);
    return feed(node, BudgetAnswered{action.request, BudgetAnswered::Granted{}});
  }
  node.reserved.insert(action.request);
}

inline void World::carry_out(Node& node, ExtendBudget& action) {
  if (!node.granted.contains(action.request))
    complain(node, "a reservation is extended that was not granted");
  feed(node, BudgetExceeded{action.request, StopReason::kTokenLimit});
}

inline void World::carry_out(Node& node, SettleBudget& action) {
  if (node.granted.erase(action.request) == 0) complain(node, "a budget is settled that was not granted");
}

inline void World::carry_out(Node& node, CloseBudget& /*action*/) {
  if (!node.granted.empty()) complain(node, "a turn ends and keeps what it was granted");
}

inline void World::carry_out(Node& node, GiveUp& /*action*/) {
  check_alive(node, "an end");
  node.gave_up = true;
  node.running.clear();
}

// ---- possible events

inline void World::offer(Node& node, std::vector<Choice>& all, bool faults) {
  const std::string who = node.id.str() + " ";
  if (!node.inbox.empty()) {
    all.push_back({who + "hears", [&node] {
                     auto heard = std::move(node.inbox.front());
                     node.inbox.pop_front();
                     heard();
                   }});
  }
  offer_budget(node, all);
  if (node.appending) {
    all.push_back({who + "appended", [this, &node] { end_append(node, true); }});
    if (faults && scenario_.failing_append && !failed_)
      all.push_back({who + "append fails", [this, &node] { end_append(node, false); }, true});
  }
  offer_effects(node, all);
  if (node.hooks) {
    all.push_back({who + "hooks answer", [this, &node] {
                     const AskHooks asked = *std::exchange(node.hooks, std::nullopt);
                     HooksAnswered answered{asked.place, TurnAdvice{}};
                     if (std::holds_alternative<AskBeforeModel>(asked.question))
                       answered.advice = ModelAdvice{};
                     if (const auto* calls = std::get_if<AskAboutCalls>(&asked.question)) {
                       CallReviews reviews{calls->version};
                       for (const ToolCallPart& call : calls->calls)
                         reviews.reviews[call.id] = judge_call(*calls->rules, nullptr, call);
                       answered.advice = std::move(reviews);
                     }
                     feed(node, std::move(answered));
                   }});
  }
  offer_ended(node, all);
  for (const auto& [token, step] : node.questions) {
    all.push_back({who + "handler answers", [this, &node, question = token] {
                     const ParkedStep asked = node.questions.at(question);
                     node.questions.erase(question);
                     PersonAnswered answered{question, std::nullopt};
                     answered.records = std::vector<RecordBody>{records::Decided{
                         asked.id, asked.call, ApprovalVerb::kApprove, {}, person_by_library()}};
                     feed(node, std::move(answered));
                   }});
  }
  for (const auto& [token, timer] : node.timers) {
    all.push_back({who + "timer", [this, &node, fired = token] {
                     now_ = std::max(now_, node.timers.at(fired).due);
                     node.timers.erase(fired);
                     feed(node, TimerFired{fired});
                   }});
  }
}

inline void World::offer_effects(Node& node, std::vector<Choice>& all) {
  for (const auto& [id, running] : node.running) {
    const std::string name = node.id.str() + " " + id.str();
    if (running.kind == EffectKind::kTool && !running.waits &&
        (running.call.name == "delegate" || running.call.name == "outer") && running.ordinal == 0 &&
        !running.stopped) {
      all.push_back({name + " works", [this, &node, effect = id] { run_tool(node, effect); }});
      continue;
    }
    if (!running.waits || running.stopped)
      all.push_back({name + " ends", [this, &node, effect = id] { end_effect(node, effect, false); }});
    if (running.stopped)
      all.push_back({name + " stops", [this, &node, effect = id] { end_effect(node, effect, true); }});
  }
}

inline void World::offer_budget(Node& node, std::vector<Choice>& all) {
  const std::string who = node.id.str() + " budget ";
  if (scenario_.budget) offer_long_answers(node, all);
  for (const Token request : node.reserved) {
    const auto answer = [this, &node, token = request](auto how) {
      node.reserved.erase(token);
      if constexpr (std::is_same_v<decltype(how), BudgetAnswered::Granted>) node.granted.insert(token);
      if constexpr (std::is_same_v<decltype(how), BudgetAnswered::Busy>) node.busy.insert(token);
      feed(node, BudgetAnswered{token, how});
    };
    all.push_back({who + "granted", [answer] { answer(BudgetAnswered::Granted{}); }});
    all.push_back({who + "busy", [answer] { answer(BudgetAnswered::Busy{}); }, true});
    all.push_back({who + "spent", [answer] { answer(StopReason::kTokenLimit); }, true});
  }
  if (!node.busy.empty()) {
    all.push_back({who + "freed", [this, &node] {
                     node.busy.clear();
                     feed(node, BudgetFreed{});
                   }});
  }
}

inline void World::end_append(Node& node, bool well) {
  std::vector<Record> records = *std::exchange(node.appending, std::nullopt);
  if (!well) {
    failed_ = true;
    return feed(node, Appended{fail(ErrorCode::kJournal, kDiskFault)});
  }
  for (Record& record : records) node.log.push_back(std::move(record));
  feed(node, Appended{node.log.size()});
}

/// The handler of a call that creates a sub-agent or makes a call within the call.
inline void World::run_tool(Node& node, const EffectId& effect) {
  Node::Running& running = node.running.at(effect);
  running.ordinal = 1;
  running.waits = true;
  if (running.call.name == "outer") {
    const Token waiter = ++tokens_;
    node.callers[waiter] = {&node, effect};
    return feed(node, CallRequested{running.call.id, tool_call("", "echo"), "k1", waiter});
  }
  const SessionId child{node.id.str() + "-" + effect.str()};
  give(node, {records::ChildSpawned{child, running.call.id, "child", "k1"}});
  AgentSpec agent = scenario_.agent;
  agent.id = "child";
  agent.policy = JsonObject{{"allow", JsonArray{"*"}}, {"ask", JsonArray{"careful"}}};
  Node& made = make_node(
      child, std::move(agent),
      std::make_shared<const ParentAddress>(ParentAddress{node.id, running.call.id, node.setup.lease}));
  ask(made, "part");
}

inline void World::end_effect(Node& node, const EffectId& effect, bool cancelled) {
  const Node::Running running = node.running.at(effect);
  node.running.erase(effect);
  if (!node.driver->runs(effect, running.attempt))
    complain(node, effect.str() + " is settled and was not dropped");
  const Error stopped{ErrorCode::kCancelled, "stopped on request", false, nullptr, nullptr};
  if (running.kind == EffectKind::kModel) {
    const std::size_t index = std::min<std::size_t>(running.ordinal, scenario_.script.size() - 1);
    const bool child = node.setup.parent != nullptr;
    Result<ModelResponse> answer =
        child
            ? Result<ModelResponse>(running.ordinal == 0 ? calls({tool_call("c", "careful")}) : says("part"))
            : scenario_.script[index];
    if (cancelled) answer = fail(stopped);
    return feed(node, ModelEnded{effect, running.attempt, std::move(answer)});
  }
  Result<ToolOutcome> outcome =
      ToolOutcome{{running.call.id, running.call.name, ToolStatus::kOk, "done", {}, {}}, nullptr, nullptr};
  if (cancelled) outcome = fail(stopped);
  feed(node, ToolEnded{effect, running.attempt, std::move(outcome)});
}

// ---- final checks

inline void World::check_quiet() {
  for (const auto& node : nodes_) {
    if (node->gave_up || (node->setup.parent && nodes_.front()->gave_up)) continue;
    const State& now = state(*node);
    const bool waits = node->driver->waits_for_people() || now.paused || !node->busy.empty();
    if (now.turn && !waits) complain(*node, "is stuck in a turn");
  }
}

inline void World::check_end() {
  for (const auto& node : nodes_) {
    check_fault(*node);
    check_log(*node);
    check_effects(*node);
    check_waiters(*node);
    if (node->gave_up) continue;
    if (!node->running.empty()) complain(*node, "an effect runs that nothing can end");
    if (node->appending || node->hooks || node->ended || !node->reserved.empty())
      complain(*node, "something is left undone");
    const State& last = state(*node);
    const bool waits = node->driver->waits_for_people() || last.paused || !node->busy.empty();
    if (!node->resting.empty() && !last.turn)
      complain(*node, "a caller still waits although the turn is over");
    if (!last.turn && !last.queue.empty() && !last.paused) complain(*node, "leaves a prompt in the queue");
    const bool child_lost = node->setup.parent && nodes_.front()->gave_up;
    if (last.turn && !waits && !child_lost) complain(*node, "is still in a turn");
    if (!last.turn && !node->timers.empty()) complain(*node, "leaves a timer behind");
    if (!last.turn && !node->granted.empty()) complain(*node, "keeps what it was granted");
  }
}

/// Checks that the records fold to the same state, and that a replay derives the same records.
inline void World::check_log(Node& node) {
  if (node.gave_up || node.appending) return;
  const State& live = state(node);
  const State folded = fold_log(node.log, node.id);
  if (live.seq != folded.seq) return complain(node, "the log is shorter than the state");
  const auto text = [](const State& s) {
    return to_canonical_json(to_json(result_of(s))) + " " + std::to_string(s.usage.total()) + " " +
           std::to_string(s.parked.size()) + " " + std::to_string(s.conversation.history().messages().size());
  };
  if (text(live) != text(folded))
    complain(node, "a replay gives " + text(folded) + " instead of " + text(live));
}

/// Checks that every attempt is settled at most once, and every started effect by the end of its turn.
inline void World::check_effects(Node& node) {
  std::map<EffectId, int> open;
  for (const Record& record : node.log) {
    if (const auto* intent = std::get_if<records::EffectIntended>(&record.body)) ++open[intent->effect];
    const auto* settled = std::get_if<records::EffectSettled>(&record.body);
    if (settled != nullptr && --open[settled->effect] < 0)
      complain(node, settled->effect.str() + " is settled twice");
    const auto* changed = std::get_if<records::StatusChanged>(&record.body);
    if (changed != nullptr && changed->cause == "recovered") open.clear();
    if (!std::holds_alternative<records::TurnSettled>(record.body)) continue;
    for (const auto& [effect, count] : open) {
      if (count > 0) complain(node, effect.str() + " is not settled when its turn is");
    }
  }
}

inline void World::check_waiters(Node& node) {
  for (const auto& [waiter, records] : node.promised) {
    if (node.answers[waiter] != 1)
      complain(node, "a caller was answered " + std::to_string(node.answers[waiter]) + " times");
  }
  const bool over = node.gave_up || !state(node).turn;
  for (const auto& [reader, results] : node.results) {
    const auto ends =
        std::ranges::count_if(results, [](const AgentResult& r) { return r.reason.has_value(); });
    const auto all = results.size() + node.errors[reader].size();
    if (ends > 1 || (ends == 1 && all > 2)) complain(node, "a reader got several ends");
    if (over && all == 0) complain(node, "a reader got no end");
  }
}

}  // namespace praxis::driver
