#include "app/provider_probe.hpp"

#include <chrono>
#include <utility>

#include "app/workspace.hpp"
#include "models/provider_access.hpp"
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
  return {true, url + " answers " + status};
}

}  // namespace praxis::app
