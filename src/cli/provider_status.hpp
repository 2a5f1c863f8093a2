// Whether a provider can be used: its address, and its key, which is looked for and never shown.
#pragma once

#include <string>
#include <vector>

#include "cli/workspace.hpp"
#include "praxis/models/catalog.hpp"

namespace praxis::cli {

struct ProviderStatus {
  enum class State : std::uint8_t { kReady, kLacksKey, kUnusable };

  State state = State::kReady;
  bool configured = false;      ///< somebody has set something for it
  std::string base_url = {};    ///< empty when unusable
  std::string key_origin = {};  ///< the variable or file the key was found in; empty: none was
  std::string detail = {};      ///< for people
};

ProviderStatus status_of(const ProviderFacts& provider, const Workspace& workspace);
/// The provider of each model that `name` names, which may be several with `|` between them.
std::vector<std::string> providers_of_model(std::string_view name);

}  // namespace praxis::cli
