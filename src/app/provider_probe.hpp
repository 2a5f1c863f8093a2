// Asks a provider's server whether it can be used, without the cost of a model call.
#pragma once

#include <string>
#include <vector>

#include "praxis/models/catalog.hpp"

namespace praxis::app {

struct ProbeResult {
  bool works = false;
  std::string detail;                    ///< for the user; never contains the key
  std::vector<std::string> models = {};  ///< of the server, sorted; empty: its answer lists none
};

/// Requests the server's list of models, with the key that model calls would send. A server that refuses the
/// key or cannot be reached does not work; any other answer shows that it is there. Blocks for at most some
/// seconds.
ProbeResult probe_provider(const ProviderFacts& provider);

}  // namespace praxis::app
