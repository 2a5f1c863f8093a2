// Checks whether a provider can be used: its URL, and the presence of its key, which is never shown.
#pragma once

#include <string>
#include <vector>

#include "app/workspace.hpp"
#include "praxis/models/catalog.hpp"

namespace praxis::app {

struct ProviderStatus {
  enum class State : std::uint8_t { kReady, kLacksKey, kUnusable };

  State state = State::kReady;
  bool configured = false;      ///< it has a setting
  std::string base_url = {};    ///< empty if invalid
  std::string key_origin = {};  ///< the variable or file that holds the key; empty: no key
  std::string detail = {};      ///< description for the user
};

ProviderStatus status_of(const ProviderFacts& provider, const Workspace& workspace);
/// The providers of the models in `name`, which can be several separated by `|`.
std::vector<std::string> providers_of_model(std::string_view name);
/// Those of the models in `name` whose price `catalog` does not know, so that a bound on the cost cannot hold
/// them unless their server states what a call costs. Models that no provider serves (`script:`) are left
/// out.
std::vector<std::string> models_without_price(std::string_view name, const Catalog& catalog);

}  // namespace praxis::app
