// The world outside the simulated process, which survives every kill: what tools did, and the model's vendor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "praxis/praxis.hpp"
#include "sim_checks.hpp"
#include "threads_schedule.hpp"

namespace praxis::faults::threads {

struct Outside {
  explicit Outside(Schedule& s) : schedule(s) {}

  Schedule& schedule;
  std::vector<sim::Deed> deeds;
  bool calm = false;       ///< nothing fails and nothing new is begun
  std::uint64_t last = 0;  ///< a counter that makes each text unique

  Random& random() { return schedule.random(); }
  std::string number() { return std::to_string(++last); }
  bool mishap(std::uint64_t once_in) { return random().once_in(once_in) && !calm; }
};

/// A model that answers after some time, in pieces, or fails as vendors do; it calls the tools that it is
/// offered.
std::shared_ptr<Model> sim_model(const std::shared_ptr<Outside>& outside);
/// Tools of all kinds: tools that may be repeated and tools that may not (`pay`, `send`, `crew`), that are
/// slow, fail, lack access, ask, or work through sub-agents or other tools.
std::vector<Tool> sim_tools(const std::shared_ptr<Outside>& outside);
/// An agent with all of these tools, or one below it.
Agent sim_agent(const std::shared_ptr<Outside>& outside, std::uint64_t kind);

}  // namespace praxis::faults::threads
