// The tools of a server as a source that says of which server it is.
#pragma once

#include <string>
#include <vector>

#include "praxis/runtime/agent.hpp"

namespace praxis::app {

/// The source of a server's tools. An agent file makes no other sources, so that `ToolSource::target` finds
/// the server of a tool without asking the others.
struct ServerTools {
  std::string prefix;  ///< of the names of its tools: `NAME__`
  ToolSource tools;

  std::vector<Tool> operator()() const { return tools(); }
};

}  // namespace praxis::app
