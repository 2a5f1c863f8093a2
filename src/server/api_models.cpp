// The models that runs can name.
#include <string>
#include <utility>

#include "app/provider_status.hpp"
#include "server/handlers.hpp"

namespace praxis::server {
namespace {

JsonObject provider_with_models(const ProviderFacts& provider, const app::ProviderStatus& status,
                                const Catalog& catalog) {
  JsonArray models;
  for (const ModelFacts& facts : catalog.models(provider.id)) models.push_back(to_json(facts));
  return JsonObject{{"provider", provider.id},
                    {"name", provider.name},
                    {"ready", status.state == app::ProviderStatus::State::kReady},
                    {"detail", status.detail},
                    {"models", std::move(models)}};
}

}  // namespace

Result<HttpAnswer> show_provider_models(Service& service, const Call& call) {
  const auto catalog = app::open_catalog(*service.workspace);
  if (!catalog) return fail(catalog.error());
  const std::string wanted = call.parameter("provider");
  if (!wanted.empty() && (*catalog)->provider(wanted) == nullptr) return fail(not_found("provider", wanted));
  JsonArray providers;
  for (const std::string& id : (*catalog)->providers()) {
    const ProviderFacts& provider = *(*catalog)->provider(id);
    const app::ProviderStatus status = app::status_of(provider, *service.workspace);
    if (wanted.empty() ? !status.configured : id != wanted) continue;
    providers.push_back(provider_with_models(provider, status, **catalog));
  }
  return json_answer(JsonObject{{"providers", std::move(providers)}});
}

}  // namespace praxis::server
