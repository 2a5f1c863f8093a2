// For tests: one turn driver whose appends succeed at once.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/testing/fold.hpp"
#include "driver/turn_driver.hpp"
#include "praxis/planners/model_planner.hpp"

namespace praxis::driver {

inline AgentSpec echoing() {
  AgentSpec agent;
  agent.model = "test:model";
  agent.tools = {test_tool("echo")};
  agent.policy = JsonObject{{"allow", JsonArray{"*"}}};
  return agent;
}

/// A driver whose appends succeed at once.
class Rig {
 public:
  explicit Rig(AgentSpec agent = echoing(), bool bounded = false,
               std::shared_ptr<const ParentAddress> parent = nullptr) {
    Setup setup = setup_of(std::move(agent));
    setup.bounded_above = bounded;
    setup.parent = std::move(parent);
    State fresh;
    fresh.id = SessionId{"s1"};
    driver.emplace(setup, std::move(fresh));
    records::SessionCreated created;
    created.session = SessionId{"s1"};
    created.agent = setup.agent;
    RecordsGiven given;
    given.records.emplace_back(std::move(created));
    feed(std::move(given));
  }

  static Setup setup_of(AgentSpec agent) {
    Setup setup;
    setup.agent = std::make_shared<const AgentSpec>(std::move(agent));
    setup.planner = std::make_shared<const ModelPlanner>();
    setup.lease = {SessionId{"s1"}, 1};
    setup.model.price = [](const Usage& usage) { return MicroUsd{usage.total()}; };
    return setup;
  }

  /// Returns all actions that follow from an input, in order.
  const Actions& feed(Input input) {
    last.clear();
    std::vector<Input> inputs;
    inputs.push_back(std::move(input));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Actions actions;
      driver->take(now, std::move(inputs[i]), actions);
      for (Action& action : actions) {
        if (auto* append = std::get_if<AppendRecords>(&action)) {
          durable += append->append.entries.size();
          for (NewEntry& entry : append->append.entries) kinds.push_back(entry.kind);
          inputs.emplace_back(Appended{durable});
        }
        if (std::holds_alternative<AwaitActions>(action)) inputs.emplace_back(ActionsDone{});
        last.push_back(std::move(action));
      }
    }
    return last;
  }
  const Actions& ask() {
    std::vector<Message> messages;
    messages.push_back(text_message(Role::kUser, "go"));
    return feed(TurnRequested{std::move(messages), nullptr, nullptr, {1, false}});
  }
  /// A call creates a sub-agent.
  const Actions& spawn(const SessionId& child, const std::string& call) {
    RecordsGiven spawned;
    spawned.records.emplace_back(records::ChildSpawned{child, CallId{call}, "child", "k"});
    return feed(std::move(spawned));
  }
  const Actions& answer(ModelResponse response) {
    return feed(ModelEnded{running_effect(), driver->state().turn->effect->attempt, std::move(response)});
  }
  EffectId running_effect() const { return driver->state().turn->effect->effect; }
  EffectId call(const std::string& id) const { return driver->state().find_call(CallId{id})->effect; }

  template <class A>
  const A* find() const {
    for (const Action& action : last) {
      if (const auto* found = std::get_if<A>(&action)) return found;
    }
    return nullptr;
  }
  template <class A>
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(last, [](const Action& a) { return std::holds_alternative<A>(a); }));
  }

  Moment now;
  std::optional<TurnDriver> driver;
  std::uint64_t durable = 0;
  std::vector<std::string> kinds;  ///< of all records
  Actions last;                    ///< of the last input
};

}  // namespace praxis::driver
