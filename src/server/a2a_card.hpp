// A2A 1.0: the agents of the server as that protocol sees them, and their cards.
#pragma once

#include <string>

#include "praxis/core/state.hpp"
#include "server/handlers.hpp"

namespace praxis::server {

/// An agent under its name in addresses: `/a2a/NAME`. `default` is the agent that runs get which name none,
/// unless an agent file has this name.
struct A2aAgent {
  std::string name;        ///< in addresses
  std::string file = {};   ///< by which runs name it; empty: the default agent
  std::string id = {};     ///< of its sessions; empty: any
  std::string about = {};  ///< what its file says that it does
  /// Whether a run is one of this agent.
  bool owns(const State& state) const { return id.empty() || (state.agent && state.agent->id == id); }
};

/// Error `kNotFound`, or `kInput` of its file.
Result<A2aAgent> a2a_agent(Service& service, const std::string& name);
/// The card that a client with a token gets: of the default agent it lists the others too.
Json extended_card(Service& service, const Call& call, const A2aAgent& agent);

}  // namespace praxis::server
