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

/// The models in a name: several are separated by `|`.
std::vector<std::string_view> models_in(std::string_view name) {
  std::vector<std::string_view> models;
  while (!name.empty()) {
    models.push_back(name.substr(0, name.find('|')));
    name.remove_prefix(std::min(models.back().size() + 1, name.size()));
  }
  return models;
}

std::string_view provider_in(std::string_view model) { return model.substr(0, model.find(':')); }

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
  for (const std::string_view model : models_in(name)) providers.emplace_back(provider_in(model));
  return providers;
}

std::vector<std::string> models_without_price(std::string_view name, const Catalog& catalog) {
  std::vector<std::string> models;
  for (const std::string_view model : models_in(name)) {
    const std::string_view provider = provider_in(model);
    if (provider.size() == model.size() || catalog.provider(provider) == nullptr) continue;
    if (catalog.model(provider, model.substr(provider.size() + 1)).prices.empty()) models.emplace_back(model);
  }
  return models;
}

}  // namespace praxis::app
