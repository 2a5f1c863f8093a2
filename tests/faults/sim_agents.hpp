// The agents of a simulated process, and what their model answers.
#pragma once

#include <cstdint>
#include <string>

#include "fault.hpp"
#include "praxis/core/next.hpp"
#include "praxis/core/records.hpp"

namespace praxis::faults::sim {

/// What all agents share, and what outlives every kill.
struct Vendor {
  Random& random;
  bool calm = false;       ///< nothing fails and nothing new is begun
  std::uint64_t last = 0;  ///< a counter that makes each text unique

  std::string number() { return std::to_string(++last); }
  bool mishap(std::uint64_t once_in) { return random.once_in(once_in) && !calm; }
};

/// An agent with tools of all kinds: tools that may be repeated and tools that may not (`pay`, `send`,
/// `late`, `crew`), that are slow, fail, lack access, ask, or work through sub-agents or other tools.
AgentSpec root_agent(std::uint64_t kind);
/// The agent that works for the tool `helper`.
AgentSpec helper_agent();
/// An agent that works for `team` or `crew`, with half of the tools of the one above.
AgentSpec worker_agent(const AgentSpec& above, std::uint32_t depth, std::size_t index);

/// The answer of a model to `history`, or an error as vendors give them; it calls `tools`.
Result<ModelResponse> answer_of(Vendor& vendor, const std::vector<ToolSpec>& tools, const History& history);

}  // namespace praxis::faults::sim
