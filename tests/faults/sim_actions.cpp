// Carries out the actions of drivers in a simulated process. The answers come in later steps.
#include <algorithm>
#include <utility>

#include "driver/command_records.hpp"
#include "sim_world.hpp"

namespace praxis::faults::sim {

// ---- the journal and the end

void World::perform(Node& node, driver::AppendRecords& action) {
  const Append& append = action.append;
  if (node.appending) complain(node, "two appends at once");
  if (node.gave_up) complain(node, "an append after the end");
  if (append.expected_seq != node.driver->durable()) complain(node, "an append to another place");
  if (append.entries.empty() && append.answers.empty()) complain(node, "an empty append");
  node.appending = true;
  node.unwritten = std::move(action.append);
  agenda_.post([this, &node] { write(node); });
}

void World::perform(Node& node, driver::AwaitActions& /*action*/) { feed(node, driver::ActionsDone{}); }

/// A driver gives up because the disk failed, its lease was taken, or it was abandoned; never because of its
/// own records.
void World::perform(Node& node, driver::GiveUp& action) {
  if (std::exchange(node.gave_up, true)) complain(node, "gives up twice");
  const ErrorKind kind = action.error.kind();
  const bool expected = action.error.code == ErrorCode::kCancelled || kind == ErrorKind::kFull ||
                        kind == ErrorKind::kIo || kind == ErrorKind::kLeaseLost;
  if (!expected) complain(node, "gives up: " + action.error.message);
  for (const auto& [effect, work] : std::exchange(node.effects, {})) stop(work);
  if (find(node.id) == &node) active_.erase(node.id);
  if (!node.unwritten) give_back(node.lease);
}

void World::perform(Node& node, driver::AnswerWaiter& action) {
  if (node.resting.erase(action.waiter) != 0) return check_rest(node);
  auto waiter = node.waiters.extract(action.waiter);
  if (!waiter) return complain(node, "a caller is answered twice, or was unknown");
  if (action.durable && *action.durable > node.driver->durable())
    complain(node, "a caller is answered too early");
  agenda_.post([done = std::move(waiter.mapped()), durable = std::move(action.durable)] { done(durable); });
}

void World::check_rest(Node& node) {
  if (node.gave_up) return;
  const State& now = state(node);
  if (now.turn && !now.paused && !node.driver->waits_for_people())
    complain(node, "reports rest in the middle of a turn");
}

// ---- effects

/// Checks that no attempt starts twice in one process. After a kill, `Checks` finds effects without a durable
/// intent: their deeds have no record.
void World::check_start(Node& node, const EffectId& effect, std::uint32_t attempt) {
  if (node.gave_up) complain(node, "a start after the end");
  if (!node.started.emplace(effect, attempt).second) complain(node, effect.str() + " starts twice");
  if (!node.driver->runs(effect, attempt)) complain(node, effect.str() + " starts but is not running");
}

void World::perform(Node& node, driver::StartModel& action) {
  check_start(node, action.effect, action.attempt);
  Work* work = &works_.emplace_back();
  work->node = &node;
  work->effect = action.effect;
  work->attempt = action.attempt;
  work->is_model = true;
  work->history = std::move(action.question.history);
  work->deltas = random_.below(4);
  work->obeys = !random_.once_in(8);
  node.effects[action.effect] = work;
  node.arrived = 0;
  ++node.works;
  nap(work, random_.once_in(8) ? 200 : 20, [this, work] { speak(work); });
}

void World::perform(Node& node, driver::StartTool& action) {
  check_start(node, action.effect, action.attempt);
  Work* work = &works_.emplace_back();
  work->node = &node;
  work->effect = action.effect;
  work->attempt = action.attempt;
  work->call = std::move(action.call);
  work->obeys = !random_.once_in(5);
  node.effects[action.effect] = work;
  ++node.works;
  agenda_.post([this, work] { run_tool(work); });
}

void World::perform(Node& node, driver::StopEffect& action) {
  if (const auto found = node.effects.find(action.effect); found != node.effects.end()) stop(found->second);
}

void World::perform(Node& node, driver::DropEffect& action) { node.effects.erase(action.effect); }

// ---- time

void World::perform(Node& node, driver::ArmTimer& action) {
  if (node.timers.contains(action.timer)) complain(node, "a timer is armed twice");
  node.timers[action.timer] = agenda_.after(action.delay, [this, &node, token = action.timer] {
    node.timers.erase(token);
    feed(node, driver::TimerFired{token});
  });
}

void World::perform(Node& node, driver::DisarmTimer& action) {
  const auto timer = node.timers.extract(action.timer);
  if (!timer && !node.gave_up) complain(node, "a timer is disarmed that is not armed");
  if (!timer) return;  // the one that fired when the state could not be read
  agenda_.cancel(timer.mapped());
}

// ---- hooks and approvals

void World::perform(Node& node, driver::AskHooks& action) {
  if (std::exchange(node.asks_hooks, true)) complain(node, "hooks are asked twice at once");
  nap(20, [this, &node, asked = std::move(action)] {
    node.asks_hooks = false;
    feed(node, hooks_answer(node, asked));
  });
}

driver::HooksAnswered World::hooks_answer(const Node& node, const driver::AskHooks& asked) {
  driver::HooksAnswered answered{asked.place, driver::TurnAdvice{}};
  if (std::holds_alternative<driver::AskBeforeTurn>(asked.question)) return answered;
  if (vendor_.mishap(60)) answered.pause = "a hook wants a pause";
  if (const auto* calls = std::get_if<driver::AskAboutCalls>(&asked.question)) {
    driver::CallReviews reviews{calls->version, {}};
    for (const ToolCallPart& call : calls->calls)
      reviews.reviews[call.id] = review(node, *calls->rules, call);
    answered.advice = std::move(reviews);
    return answered;
  }
  driver::ModelAdvice advice;
  if (vendor_.mishap(20)) advice.patch.instructions = "You do what hooks say.";
  if (vendor_.mishap(30)) advice.answer = *answer_of(calm_, {}, {});
  answered.advice = std::move(advice);
  return answered;
}

/// The rules come first; a hook can only narrow what they allow.
driver::Review World::review(const Node& node, const driver::Rules& rules, const ToolCallPart& call) {
  const ToolSpec* tool = node.agent->find_tool(call.name);
  driver::Review review = driver::judge_call(rules, tool != nullptr ? &tool->definition : nullptr, call);
  if (!std::holds_alternative<Allow>(review.permission) || tool == nullptr ||
      tool->result_from != ResultFrom::kHandler)
    return review;
  review.author = by_hook();
  if (vendor_.mishap(25)) review.arguments = R"({"text":"changed"})";
  if (vendor_.mishap(25))
    review.result =
        ToolOutcome{{call.id, call.name, ToolStatus::kOk, "a hook says", {}, {}}, nullptr, nullptr};
  if (vendor_.mishap(25)) review.permission = deny("a hook forbids it");
  if (vendor_.mishap(25)) review.permission = needs_approval("a hook asks");
  return review;
}

void World::perform(Node& node, driver::AskAfterTurn& action) {
  if (action.result.last_seq > node.driver->durable())
    complain(node, "hooks see a turn before its end is durable");
  nap(20, [this, &node, result = std::move(action.result)] { feed(node, driver::TurnReported{result}); });
}

void World::perform(Node& node, driver::AskPerson& action) {
  if (!node.questions.insert(action.question).second) complain(node, "a question is asked twice");
  nap(30, [this, &node, question = action.question, step = std::move(action.step)] {
    if (node.questions.erase(question) == 0) return;  // withdrawn
    driver::PersonAnswered answered{question, std::nullopt};
    if (const auto approval = approval_on(step, false))
      answered.records =
          approval_records(state(node), {{step.id, *approval}}, Author{"person", Surface::kHandler});
    feed(node, std::move(answered));
  });
}

void World::perform(Node& node, driver::WithdrawQuestion& action) { node.questions.erase(action.question); }

// ---- events and readers

void World::perform(Node& node, driver::Publish& action) {
  const bool transient = action.readers_only || is_delta(action.event.body) ||
                         std::holds_alternative<events::HookFailed>(action.event.body) ||
                         std::holds_alternative<events::ToolProgress>(action.event.body);
  if (!transient && action.event.seq > node.driver->durable())
    complain(node, "an event is published too early");
}

void World::perform(Node& node, driver::FinishTurn& action) {
  if (action.result.last_seq > node.driver->durable())
    complain(node, "a turn is finished before it is durable");
  finish(node, action.readers, action.result);
}

void World::perform(Node& node, driver::FinishReaders& action) {
  finish(node, action.readers, action.result);
}

void World::finish(Node& node, const driver::Readers& readers, const Result<AgentResult>& result) {
  for (const driver::Reader& reader : readers) {
    auto found = node.readers.extract(reader.token);
    if (!found) {  // several records of a failed append name it
      if (result) complain(node, "a reader gets a second result");
      continue;
    }
    agenda_.post([done = std::move(found.mapped()), result] { done(result); });
  }
}

void World::perform(Node& /*node*/, driver::ReadersChanged& /*action*/) {}

void World::perform(Node& node, driver::ShowSession& action) {
  if (action.status == SessionStatus::kAwaitingUser && !node.driver->waits_for_people())
    complain(node, "is shown as waiting but does not wait");
}

// ---- the agent tree

void World::perform(Node& node, driver::TellParent& action) {
  if (node.above == nullptr) return complain(node, "sends to a parent that it does not have");
  std::visit([&](auto& what) { send_up(*node.above, std::move(what)); }, action.what);
}

/// Inputs that sessions send to the one above arrive in order.
void World::send_up(Node& above, driver::Input input) {
  above.from_below.push_back(std::move(input));
  agenda_.post([this, &above] {
    driver::Input next = std::move(above.from_below.front());
    above.from_below.pop_front();
    feed(above, std::move(next));
  });
}

void World::perform(Node& node, driver::HandBack& action) {
  auto caller = node.callers.extract(action.waiter);
  if (!caller) return complain(node, "a result is handed back to no caller, or twice");
  agenda_.post([done = std::move(caller.mapped()), outcome = std::move(action.outcome)] { done(outcome); });
}

// ---- budgets

std::shared_ptr<Budget> World::budget(Node& node) {
  const State& now = state(node);
  if (node.budget_known || !now.turn) return node.budget;
  node.budget_known = true;
  const Limits& limits = now.agent->limits;
  if (!driver::is_bounded(limits) && !node.budget_above) return nullptr;
  const AgentResult& report = now.turn->report;
  const Usage usage = report.usage + report.usage_children;
  const Amount spent{usage.total(), usage.cost, now.turn_calls()};
  node.budget = Budget::create(node.budget_above, limits, spent, spent);
  return node.budget;
}

void World::perform(Node& node, driver::ReserveBudget& action) {
  using Answered = driver::BudgetAnswered;
  const auto shared = budget(node);
  if (!shared) return feed(node, Answered{action.request, Answered::Granted{}});
  auto answer = shared->reserve(
      action.estimate, [this, &node] { agenda_.post([this, &node] { feed(node, driver::BudgetFreed{}); }); });
  if (auto* granted = std::get_if<Budget::Grant>(&answer)) {
    node.grants.emplace(action.request, std::move(*granted));
    return feed(node, Answered{action.request, Answered::Granted{}});
  }
  const auto* spent = std::get_if<StopReason>(&answer);
  feed(node,
       spent != nullptr ? Answered{action.request, *spent} : Answered{action.request, Answered::Busy{}});
}

void World::perform(Node& node, driver::ExtendBudget& action) {
  const auto grant = node.grants.find(action.request);
  if (grant == node.grants.end()) return;
  if (const auto exceeded = grant->second.extend(action.used))
    feed(node, driver::BudgetExceeded{action.request, *exceeded});
}

void World::perform(Node& node, driver::SettleBudget& action) {
  auto grant = node.grants.extract(action.request);
  // Without a budget above, every request is granted and no amount is held.
  if (grant) grant.mapped().settle(action.spent);
}

void World::perform(Node& node, driver::CloseBudget& /*action*/) {
  if (!node.grants.empty()) complain(node, "a turn ends and keeps what it was granted");
  node.grants.clear();
  node.budget.reset();
  node.budget_known = false;
}

}  // namespace praxis::faults::sim
