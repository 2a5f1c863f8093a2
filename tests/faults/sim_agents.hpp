// The agents of a simulated process, and the answers of their model.
#pragma once

#include <cstdint>
#include <string>

#include "fault.hpp"
#include "praxis/core/next.hpp"
#include "praxis/core/records.hpp"

namespace praxis::faults::sim {

/// Shared by all agents; survives every kill.
struct Vendor {
  Random& random;
  bool calm = false;       ///< nothing fails and nothing new starts
  std::uint64_t last = 0;  ///< a counter that makes each text unique

  std::string number() { return std::to_string(++last); }
  bool mishap(std::uint64_t once_in) { return random.once_in(once_in) && !calm; }
};

/// An agent with tools of all kinds: tools that may be repeated and tools that may not (`pay`, `send`,
/// `late`, `crew`), that are slow, fail, lack access, ask, or work through sub-agents or other tools.
AgentSpec root_agent(std::uint64_t kind);
/// The root of a wide and deep tree: it delegates more, and has a budget, a time limit or both.
AgentSpec tree_agent(std::uint64_t kind);
/// A sub-agent in such a tree, below a session at `depth`; some have budgets of their own.
AgentSpec branch_agent(std::uint32_t depth, std::size_t index);
/// The agent behind the tool `helper`.
AgentSpec helper_agent();
/// A sub-agent of `team` or `crew`, with half of the tools of the agent above.
AgentSpec worker_agent(const AgentSpec& above, std::uint32_t depth, std::size_t index);

/// Returns the answer of a model to `history`, with calls of `tools`, or an error of a vendor.
Result<ModelResponse> answer_of(Vendor& vendor, const std::vector<ToolSpec>& tools, const History& history);

}  // namespace praxis::faults::sim
