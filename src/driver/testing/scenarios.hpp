// For tests: scenarios of sessions, which the explorer plays in every order.
#pragma once

#include "driver/testing/world_parts.hpp"

namespace praxis::driver {

inline AgentSpec explored_agent(std::vector<ToolSpec> tools = {}) {
  AgentSpec agent;
  agent.model = "test:model";
  agent.tools = std::move(tools);
  agent.policy = JsonObject{{"allow", JsonArray{"*"}}};
  return agent;
}

inline bool in_turn(World& world) {
  return !world.root().gave_up && world.state(world.root()).turn.has_value();
}

inline Outside act(std::string name, CommandVerb kind, std::string text = {}) {
  return {std::move(name), in_turn, [kind, text](World& world) {
            world.give(world.root(), {records::Intervened{kind, text, nullptr}});
          }};
}

inline Outside interrupt() {
  return {"interrupt", in_turn, [](World& world) {
            world.feed(world.root(), InterruptRequested{});
            for (const auto& [effect, running] : world.root().running) {
              if (!running.stopped) world.complain(world.root(), effect.str() + " was not asked to stop");
            }
          }};
}

/// Withdraws the first message that waits.
inline Outside withdraw() {
  const auto first = [](World& world) -> std::uint64_t {
    const State& state = world.state(world.root());
    if (!state.steering.empty()) return state.steering.front().id;
    return state.queue.empty() ? 0 : state.queue.front().id;
  };
  return {"withdraw", [first](World& world) { return in_turn(world) && first(world) != 0; },
          [first](World& world) {
            world.give(world.root(),
                       {records::Intervened{CommandVerb::kWithdraw, std::to_string(first(world)), nullptr}});
          }};
}

/// A caller waits until the session is idle or waits for an approval.
inline Outside await_rest() {
  return {"await rest", in_turn, [](World& world) { world.await_rest(world.root()); }};
}

/// A pause, and its end at any later time.
inline std::vector<Outside> pause_and_end() {
  return {{"pause", [](World& world) { return in_turn(world) && !world.state(world.root()).paused; },
           [](World& world) {
             world.give(world.root(), {records::Intervened{CommandVerb::kPause, "wait", nullptr}});
           }},
          {"unpause", [](World& world) { return in_turn(world) && world.state(world.root()).paused; },
           [](World& world) {
             world.give(world.root(), {records::Intervened{CommandVerb::kUnpause, {}, nullptr}});
           }}};
}

/// Decides the first parked step of any session, as often as there is one.
inline Outside decide(ApprovalVerb verb, std::string name = "decide") {
  const auto waiting = [](World& world) -> Node* {
    for (const auto& node : world.nodes()) {
      if (!node->gave_up && !world.state(*node).parked.empty()) return node.get();
    }
    return nullptr;
  };
  return {std::move(name), [waiting](World& world) { return waiting(world) != nullptr; },
          [waiting, verb](World& world) {
            Node& node = *waiting(world);
            const ParkedStep step = world.state(node).parked.begin()->second;
            world.give(node, {records::Decided{step.id, step.call, verb, {}, person_by_library()}});
          }};
}

/// Adds a scenario to `all`; the reference holds until the next one is added.
inline Scenario& add(std::vector<Scenario>& all, std::string name, AgentSpec agent,
                     std::vector<Result<ModelResponse>> script) {
  Scenario scenario;
  scenario.name = std::move(name);
  scenario.agent = std::move(agent);
  scenario.script = std::move(script);
  all.push_back(std::move(scenario));
  return all.back();
}

/// Scenarios with stops, pauses, decisions and failing appends.
inline void add_loop_scenarios(std::vector<Scenario>& all) {
  const auto two = calls({tool_call("a", "echo"), tool_call("b", "echo")});
  const AgentSpec echo = explored_agent({test_tool("echo")});

  Scenario& failing = add(all, "FailingAppend", echo, {two, says("done")});
  failing.failing_append = true;
  failing.outside = {act("steer", CommandVerb::kSteer, "mind"),
                     act("enqueue", CommandVerb::kEnqueue, "more")};

  add(all, "TwoCallsAndAStop", echo, {two, says("done")}).outside = {interrupt(), await_rest()};

  add(all, "Pause", echo, {two, says("done")}).outside = pause_and_end();

  AgentSpec careful = explored_agent({test_tool("echo"), test_tool("careful")});
  careful.policy = JsonObject{{"allow", JsonArray{"*"}}, {"ask", JsonArray{"careful"}}};
  const auto both = calls({tool_call("a", "echo"), tool_call("b", "careful")});
  Scenario& decision = add(all, "Decision", careful, {both, says("done")});
  decision.outside = {decide(ApprovalVerb::kApprove), interrupt()};

  Scenario& handler = add(all, "Handler", careful, {both, says("done")});
  handler.approver = true;
  handler.agent.limits.max_wait = Millis{1000};
  handler.outside = {decide(ApprovalVerb::kReject)};
}

/// Scenarios with sub-agents, calls within calls, hooks, budgets, time and crashes.
inline void add_outer_scenarios(std::vector<Scenario>& all) {
  const auto one = calls({tool_call("a", "echo")});
  const AgentSpec echo = explored_agent({test_tool("echo")});

  AgentSpec denying = explored_agent({test_tool("echo"), test_tool("careful")});
  denying.policy = JsonObject{{"allow", JsonArray{"*"}}, {"deny", JsonArray{"careful"}}};
  add(all, "Denied", denying, {calls({tool_call("a", "careful"), tool_call("b", "echo")}), says("done")})
      .outside = {await_rest()};

  AgentSpec lead = explored_agent({test_tool("delegate"), test_tool("careful")});
  Scenario& child = add(all, "Child", lead, {calls({tool_call("a", "delegate")}), says("done")});
  child.outside = {decide(ApprovalVerb::kApprove), interrupt()};

  Scenario& faulty =
      add(all, "ChildFailingAppend", lead, {calls({tool_call("a", "delegate")}), says("done")});
  faulty.failing_append = true;
  faulty.outside = {decide(ApprovalVerb::kApprove), interrupt()};

  AgentSpec nested = explored_agent({test_tool("outer"), test_tool("echo")});
  Scenario& within = add(all, "CallWithinACall", nested, {calls({tool_call("a", "outer")}), says("done")});
  within.outside = {interrupt()};

  Scenario& hooks = add(all, "Hooks", echo, {one, says("done")});
  hooks.hooks = {true, true, true, true};
  hooks.outside = {act("enqueue", CommandVerb::kEnqueue, "more"), interrupt()};

  Scenario& withdrawn = add(all, "Withdraw", echo, {one, says("done")});
  withdrawn.hooks.turn = true;
  withdrawn.crash = true;
  withdrawn.outside = {act("steer", CommandVerb::kSteer, "mind"),
                       act("enqueue", CommandVerb::kEnqueue, "more"), withdraw()};

  Scenario& budget = add(all, "Budget", echo, {one, says("done")});
  budget.budget = true;
  budget.outside = {interrupt()};

  Scenario& time = add(all, "Time", explored_agent({test_tool("echo", true, 1)}),
                       {fail(make_error(ErrorCode::kModel, "busy", true)), one, says("done")});
  time.agent.limits.timeout = Millis{60'000};

  Scenario& crash = add(all, "Crash", explored_agent({test_tool("echo", true), test_tool("once")}),
                        {calls({tool_call("a", "echo"), tool_call("b", "once")}), says("done")});
  crash.crash = true;
  crash.outside = {decide(ApprovalVerb::kApprove), act("enqueue", CommandVerb::kEnqueue, "more")};
}

inline std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> all;
  add_loop_scenarios(all);
  add_outer_scenarios(all);
  return all;
}

}  // namespace praxis::driver
