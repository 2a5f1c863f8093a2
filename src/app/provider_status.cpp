#include "app/provider_status.hpp"

#include <algorithm>

#include "models/provider_access.hpp"

namespace praxis::app {
namespace {

ProviderStatus unusable(ProviderStatus status, const Error& error) {
  status.state = ProviderStatus::State::kUnusable;
  status.detail = error.message;
  return status;
}

bool is_in_files(const ProviderFacts& provider, const Workspace& workspace) {
  return !json_at(json_at(workspace.config.corrections, "providers"), provider.id).is_null();
}

}  // namespace

ProviderStatus status_of(const ProviderFacts& provider, const Workspace& workspace) {
  ProviderStatus status{.configured = is_in_files(provider, workspace)};
  const auto key = find_key(provider, environment_variable);
  if (!key) return unusable(std::move(status), key.error());
  const auto base_url = find_base_url(provider, environment_variable);
  if (!base_url) return unusable(std::move(status), base_url.error());
  status.base_url = base_url->value;
  status.key_origin = key->origin;
  status.configured = status.configured || !key->origin.empty() || !base_url->origin.empty();
  if (const auto access = access_to(provider, environment_variable); !access) {
    if (!key->value.empty()) return unusable(std::move(status), access.error());
    status.state = ProviderStatus::State::kLacksKey;
    status.detail = "set " + key_places(provider);
    return status;
  }
  status.detail = key->origin.empty() ? "no key" : key->origin + " is set";
  if (!base_url->origin.empty()) status.detail += ", " + base_url->origin + " is set";
  return status;
}

std::vector<std::string> providers_of_model(std::string_view name) {
  std::vector<std::string> providers;
  while (!name.empty()) {
    const std::string_view one = name.substr(0, name.find('|'));
    providers.emplace_back(one.substr(0, one.find(':')));
    name.remove_prefix(std::min(one.size() + 1, name.size()));
  }
  return providers;
}

}  // namespace praxis::app
