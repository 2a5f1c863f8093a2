// Makes models by name: scripts, cassettes, routers, and the providers of the catalogue.
#include <algorithm>
#include <array>
#include <cstddef>

#include "base/regular_file.hpp"
#include "models/catalog/facts.hpp"
#include "models/file_models.hpp"
#include "models/provider_access.hpp"
#include "models/recording/cassette.hpp"
#include "models/recording/recorder.hpp"
#include "models/text_tools.hpp"
#include "models/vendor_model.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/models/catalog.hpp"
#include "praxis/models/model.hpp"
#include "praxis/models/router.hpp"

namespace praxis {
namespace {

// Providers that serve models of their own under the best-known names.
constexpr std::array<std::string_view, 6> kMakers{"anthropic", "deepseek", "google",
                                                  "mistral",   "openai",   "xai"};
constexpr std::size_t kMaxScriptBytes = 1024UL * 1024 * 1024;

using Made = Result<std::shared_ptr<Model>>;

Made make_script(const std::string& file, const ModelServices& services, const ReadFile& read) {
  const auto text = read(file, kMaxScriptBytes);
  if (!text) return fail(unreadable_file("script", file, text.error()));
  return script_model(*text, file, services.executor);
}

Made model_at(const ProviderFacts& provider, const std::string& name, const Catalog& catalog,
              Endpoint endpoint, std::shared_ptr<HttpClient> http, std::shared_ptr<Executor> executor) {
  CodecTarget target{provider.id, name, nullptr, catalog.model(provider.id, name)};
  target.dialect = dialect_of(provider, target.facts);
  const auto as_text = tools_as_text(target);
  if (!as_text) return fail(as_text.error());
  auto codec = make_codec(provider.api, target);
  if (!codec) return fail(codec.error());
  auto model = vendor_model(std::move(target), *std::move(codec), std::move(endpoint), std::move(http),
                            std::move(executor));
  return *as_text ? with_text_tools(std::move(model)) : model;
}

Made make_vendor(const ProviderFacts& provider, const std::string& model, const Catalog& catalog,
                 const ModelServices& services) {
  if (!services.http) {
    return fail(ErrorCode::kInput,
                "model \"" + provider.id + ':' + model +
                    "\" needs an HTTP client: link praxis::http or set RuntimeOptions::http");
  }
  auto access = access_to(provider, services.env);
  if (!access) return fail(access.error());
  std::shared_ptr<HttpClient> http = services.http;
  if (!services.record_to.empty()) {
    std::vector<std::string> private_headers{provider.auth};
    for (const auto& [name, value] : access->headers) private_headers.push_back(name);
    auto recording =
        recording_client(http, services.record_to, {access->secrets, std::move(private_headers)});
    if (!recording) return fail(recording.error());
    http = *std::move(recording);
  }
  Endpoint endpoint{.base_url = std::move(access->base_url),
                    .key = std::move(access->key),
                    .auth = provider.auth,
                    .headers = std::move(access->headers),
                    .secrets = std::move(access->secrets),
                    .timeouts = {.connect = services.network.connect,
                                 .first_byte = services.network.first_byte,
                                 .idle = services.network.idle},
                    .url_origin = std::move(access->url_origin),
                    .key_origin = std::move(access->key_origin)};
  return model_at(provider, model, catalog, std::move(endpoint), std::move(http), services.executor);
}

/// No executor, hence no rate limiting: pauses make no sense for a recording.
Made make_cassette(const std::string& folder, CassetteCheck check, std::shared_ptr<const Catalog> catalog,
                   const ModelServices& services, const ReadFile& read) {
  const Catalog& facts = *catalog;
  return cassette_model(
      folder, read, check, facts, services.executor,
      [catalog = std::move(catalog)](const ProviderFacts& provider, const std::string& model,
                                     std::shared_ptr<HttpClient> http) {
        return model_at(provider, model, *catalog, {.base_url = "http://cassette"}, std::move(http), nullptr);
      });
}

RouterOptions options_of(const Route& route, const ModelServices& services) {
  RouterOptions options{
      .max_usd = route.max_usd, .restart = route.restart, .environment = services.environment};
  switch (route.order) {
    case RouteOrder::kPriority:
      options.strategy = by_priority;
      break;
    case RouteOrder::kCost:
      options.strategy = by_cost;
      break;
    case RouteOrder::kLatency:
      options.strategy = by_latency;
      break;
  }
  return options;
}

/// `A|B|C`: a router over models in this order of priority.
Made make_route(std::string_view names, const ModelServices& services, const Route& route) {
  std::vector<std::shared_ptr<Model>> models;
  while (true) {
    const std::size_t bar = names.find('|');
    auto model = make_model(std::string(names.substr(0, bar)), services);
    if (!model) return model;
    models.push_back(*std::move(model));
    if (bar == names.npos) return make_router(std::move(models), options_of(route, services));
    names.remove_prefix(bar + 1);
  }
}

/// `openai:NAME` for a model that such a provider of the catalogue serves: one that makes models, before
/// those that serve the models of others. Empty if none has it.
std::string served_as(const std::string& model, const Catalog& catalog) {
  std::string found;
  for (const std::string& provider : catalog.providers()) {
    if (model.empty() || !catalog.model(provider, model).known) continue;
    const bool is_maker = std::ranges::find(kMakers, provider) != kMakers.end();
    if (is_maker) return provider + ':' + model;
    if (found.empty()) found = provider + ':' + model;
  }
  return found;
}

}  // namespace

Result<std::shared_ptr<Model>> make_file_model(const std::string& kind, const std::string& path,
                                               const ModelServices& services, const ReadFile& read) {
  if (kind == "script") return make_script(path, services, read);
  const auto catalog = services.catalog ? services.catalog : built_in_catalog();
  const auto check = kind == "cassette-check" ? CassetteCheck::kRequests : CassetteCheck::kNone;
  return make_cassette(path, check, catalog, services, read);
}

Result<std::shared_ptr<Model>> make_model(const std::string& name, const ModelServices& services,
                                          const Route& route) {
  if (name.contains('|') && !name.starts_with("script:")) return make_route(name, services, route);
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == name.size()) {
    const auto catalog = services.catalog ? services.catalog : built_in_catalog();
    const std::string served = served_as(name, *catalog);
    return fail(ErrorCode::kInput, "model \"" + name + "\" must be PROVIDER:MODEL, such as " +
                                       (served.empty() ? "openai:gpt-5 or script:FILE" : served));
  }
  const std::string provider = name.substr(0, colon), model = name.substr(colon + 1);
  if (services.providers) {
    const auto own = services.providers->find(provider);
    if (own != services.providers->end()) return own->second(model, services);
  }
  if (std::ranges::find(kFileModels, provider) != kFileModels.end())
    return make_file_model(provider, model, services, read_regular_file);
  const auto catalog = services.catalog ? services.catalog : built_in_catalog();
  if (const ProviderFacts* facts = catalog->provider(provider)) {
    return make_vendor(*facts, model, *catalog, services);
  }
  std::vector<std::string> known = catalog->providers();
  known.insert(known.end(), kFileModels.begin(), kFileModels.end());
  if (services.providers) {
    for (const auto& [own, factory] : *services.providers) known.push_back(own);
  }
  const auto nearest = closest(provider, known);
  return fail(ErrorCode::kInput, "model \"" + name + "\": unknown provider \"" + provider + '"' +
                                     (nearest ? "; did you mean \"" + *nearest + "\"?"
                                              : "; `praxis models --all` lists the known ones"));
}

}  // namespace praxis
