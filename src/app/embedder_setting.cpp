#include "app/embedder_setting.hpp"

#include <string>
#include <utility>

#include "app/own_folder.hpp"
#include "app/plain_text.hpp"
#include "models/provider_access.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis::app {

Result<std::shared_ptr<Embedder>> configured_embedder(const Workspace& workspace) {
  const std::string setting = workspace.config.get("embedder");
  if (setting.empty()) return nullptr;
  if (setting == "hashing") return hashing_embedder();
  const auto wrong = [&](const std::string& why) {
    return fail(ErrorCode::kInput, "the setting embedder, " + in_quotes(setting) + ", " + why);
  };
  const std::size_t colon = setting.find(':');
  if (colon == std::string::npos || colon + 1 == setting.size())
    return wrong("must be PROVIDER:NAME, such as openai:text-embedding-3-small");
  const auto catalog = open_catalog(workspace);
  if (!catalog) return fail(catalog.error());
  const ProviderFacts* const provider = (*catalog)->provider(setting.substr(0, colon));
  if (provider == nullptr) return wrong("names an unknown provider; praxis models lists them");
  const bool is_bearer = provider->auth.empty() || provider->auth == "authorization";
  if ((provider->api != "chat" && provider->api != "responses") || !is_bearer)
    return wrong("names a provider without embeddings in the form of OpenAI");
  auto access = access_to(*provider, environment_variable);
  if (!access) return fail(std::move(access.error()));
  HttpEmbedderOptions options;
  options.base_url = std::move(access->base_url);
  options.model = setting.substr(colon + 1);
  options.key = std::move(access->key);
  options.headers = std::move(access->headers);
  return http_embedder(make_http_client(), std::move(options));
}

}  // namespace praxis::app
