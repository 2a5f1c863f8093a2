#include "app/provider_probe.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>

#include "app/workspace.hpp"
#include "models/provider_access.hpp"
#include "praxis/json/json.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis::app {
namespace {

constexpr std::chrono::seconds kPatience{5};  // for a server's first byte

/// Where a server of this protocol lists its models, below its base URL.
std::string_view list_path(std::string_view api) {
  if (api == "messages") return "/v1/models";
  return api == "ollama" ? "/api/tags" : "/models";
}

HttpRequest request_for(const ProviderFacts& provider, const ProviderAccess& access) {
  HttpRequest request;
  request.url = access.base_url + std::string(list_path(provider.api));
  request.headers = access.headers;
  if (provider.api == "messages") request.headers.emplace_back("anthropic-version", "2023-06-01");
  if (!access.key.empty()) {
    const bool is_bearer = provider.auth.empty() || provider.auth == "authorization";
    request.headers.emplace_back(is_bearer ? "authorization" : provider.auth,
                                 is_bearer ? "Bearer " + access.key : access.key);
  }
  request.timeouts = {.connect = kPatience, .first_byte = kPatience, .idle = kPatience, .total = kPatience};
  return request;
}

/// The names in a list of models as Chat Completions, Messages, Gemini or Ollama gives it.
std::vector<std::string> listed_names(const std::string& body) {
  constexpr std::size_t kMostModels = 10'000;
  constexpr std::string_view kGeminiFolder = "models/";
  const auto json = parse_json(body);
  if (!json) return {};
  std::vector<std::string> names;
  for (const char* list : {"data", "models"}) {
    const Json& items = json_at(*json, list);
    if (!items.is_array()) continue;
    for (const Json& item : items.get_array()) {
      std::string name = json_string(item, "id", json_string(item, "name"));
      if (name.starts_with(kGeminiFolder)) name.erase(0, kGeminiFolder.size());
      if (!name.empty() && names.size() < kMostModels) names.push_back(std::move(name));
    }
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

ProbeResult probe_provider(const ProviderFacts& provider) {
  const auto access = access_to(provider, environment_variable);
  if (!access) return {false, access.error().message};
  HttpRequest request = request_for(provider, *access);
  const std::string url = request.url;
  const auto client = make_http_client();
  const auto response = http_fetch(*client, std::move(request));
  if (!response) return {false, url + " cannot be reached: " + response.error().message};
  const std::string status = "(status " + std::to_string(response->status) + ')';
  if (response->status == 401 || response->status == 403) {
    const auto key = find_key(provider, environment_variable);
    const bool has_key = key && !key->origin.empty();
    return {false, url + (has_key ? " refuses the key in " + key->origin : " requires a key") + ' ' + status};
  }
  return {true, url + " answers " + status,
          response->status == 200 ? listed_names(response->body) : std::vector<std::string>{}};
}

}  // namespace praxis::app
