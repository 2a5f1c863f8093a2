#include "mcp/oauth_metadata.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "mcp/connection.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMostTexts = 100, kShownUrl = 200;

std::unexpected<Error> useless(std::string why) {
  return fail(ErrorCode::kTool, ErrorKind::kAuthorisation, std::move(why));
}

std::vector<std::string> texts_in(const Json& list) {
  std::vector<std::string> texts;
  if (const auto* array = list.if_array()) {
    for (const Json& each : *array) {
      if (each.is_string() && texts.size() < kMostTexts) texts.emplace_back(each.get_string());
    }
  }
  return texts;
}

/// The path without a `/` at its end, and the query with its `?`.
std::pair<std::string, std::string> path_and_query(const Url& url) {
  const std::size_t end = std::min(url.target.find('?'), url.target.size());
  std::string path = url.target.substr(0, end);
  while (path.ends_with('/')) path.pop_back();
  return {std::move(path), url.target.substr(end)};
}

bool contains(const Url& resource, const Url& server) {
  if (origin_of(resource) != origin_of(server)) return false;
  const std::string outer = path_and_query(resource).first, inner = path_and_query(server).first;
  return inner == outer || inner.starts_with(outer + '/');
}

}  // namespace

std::string origin_of(const Url& url) {
  std::string text = url.scheme + "://" + (url.ipv6 ? '[' + url.host + ']' : url.host);
  if (url.port != (url.scheme == "https" ? 443 : 80)) text += ':' + std::to_string(url.port);
  return text;
}

bool is_loopback_host(const Url& url) {
  if (url.host == "localhost") return true;
  return url.is_address && (url.host == "::1" || (!url.ipv6 && url.host.starts_with("127.")));
}

std::vector<std::string> resource_addresses(const Url& server) {
  const std::string root = origin_of(server) + "/.well-known/oauth-protected-resource";
  const auto [path, query] = path_and_query(server);
  if (path.empty() && query.empty()) return {root};
  return {root + path + query, root};
}

std::vector<std::string> issuer_addresses(const Url& issuer) {
  const std::string root = origin_of(issuer);
  const std::string path = path_and_query(issuer).first;
  const std::string oauth = root + "/.well-known/oauth-authorization-server";
  const std::string openid = "/.well-known/openid-configuration";
  if (path.empty()) return {oauth, root + openid};
  return {oauth + path, root + openid + path, root + path + openid};
}

Result<OauthResource> read_resource(const Json& document, const Url& server) {
  OauthResource read;
  read.resource = json_string(document, "resource");
  const auto resource = parse_url(read.resource);
  if (!resource || read.resource.contains('#') || !contains(*resource, server)) {
    return useless("the metadata of the server is about another resource: \"" +
                   mcp_shown(read.resource, kShownUrl) + "\"");
  }
  read.issuers = texts_in(json_at(document, "authorization_servers"));
  if (read.issuers.empty()) return useless("the metadata of the server names no authorisation server");
  for (const std::string& word : texts_in(json_at(document, "scopes_supported")))
    read.scope += (read.scope.empty() ? "" : " ") + word;
  return read;
}

Result<OauthIssuer> read_issuer(const Json& document, const std::string& issuer) {
  OauthIssuer read;
  read.issuer = json_string(document, "issuer");
  if (read.issuer != issuer) {
    return useless("the metadata at " + mcp_shown(issuer, kShownUrl) + " is that of another issuer: \"" +
                   mcp_shown(read.issuer, kShownUrl) + "\"");
  }
  read.authorisation_endpoint = json_string(document, "authorization_endpoint");
  read.token_endpoint = json_string(document, "token_endpoint");
  read.registration_endpoint = json_string(document, "registration_endpoint");
  read.revocation_endpoint = json_string(document, "revocation_endpoint");
  if (read.authorisation_endpoint.empty() || read.token_endpoint.empty())
    return useless("the metadata of " + mcp_shown(issuer, kShownUrl) + " lacks an endpoint");
  const auto methods = texts_in(json_at(document, "code_challenge_methods_supported"));
  if (std::ranges::find(methods, "S256") == methods.end())
    return useless(mcp_shown(issuer, kShownUrl) + " does not say that it supports PKCE with S256");
  read.names_itself = json_bool(document, "authorization_response_iss_parameter_supported");
  read.takes_client_addresses = json_bool(document, "client_id_metadata_document_supported");
  const auto scopes = texts_in(json_at(document, "scopes_supported"));
  read.gives_offline_access = std::ranges::find(scopes, "offline_access") != scopes.end();
  read.auth_methods = texts_in(json_at(document, "token_endpoint_auth_methods_supported"));
  return read;
}

}  // namespace praxis
