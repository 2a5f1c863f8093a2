#include "mcp/oauth.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "json/uri_reference.hpp"
#include "mcp/connection.hpp"
#include "praxis/base/base64.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} * 1024;
constexpr std::size_t kMostDepth = 16;
constexpr std::size_t kMostToken = std::size_t{16} * 1024;
constexpr std::size_t kShownText = 200;
constexpr std::chrono::milliseconds kOauthTime{30'000};
constexpr const char* kFormType = "application/x-www-form-urlencoded";

std::unexpected<Error> refused(std::string why) {
  return fail(ErrorCode::kTool, ErrorKind::kAuthorisation, std::move(why));
}

std::string shown(std::string_view text) { return mcp_shown(text, kShownText); }

Result<HttpResponse> ask(const OauthReach& reach, const std::string& address, HttpRequest request,
                         const std::stop_token& stop) {
  const auto url = check_oauth_address(reach, address);
  if (!url) return fail(url.error());
  request.url = address;
  request.headers.emplace_back("Accept", "application/json");
  request.timeouts.total = kOauthTime;
  request.max_body_bytes = kMostBytes;
  request.allow_address = reach.rule_for(*url);
  request.use_proxy = reach.use_proxy;
  auto response = http_fetch(*reach.http, std::move(request), stop);
  if (response) return response;
  Error error = std::move(response.error());
  if (error.code == ErrorCode::kModel) error.code = ErrorCode::kTool;
  error.message = shown(origin_of(*url)) + ": " + error.message;
  return fail(std::move(error));
}

/// A token goes into a header: it must be printable and without blanks.
bool is_sendable(std::string_view token) {
  return token.size() <= kMostToken && std::ranges::all_of(token, [](char c) { return c > ' ' && c < 0x7f; });
}

Result<Json> json_object_in(const HttpResponse& response, const std::string& address) {
  auto json = parse_json(response.body, {.max_depth = kMostDepth, .max_bytes = kMostBytes});
  if (!json || !json->is_object()) return refused(shown(address) + " gave no JSON object");
  return json;
}

/// The first document that is there.
Result<Json> first_of(const OauthReach& reach, const std::vector<std::string>& addresses,
                      const std::stop_token& stop) {
  std::string asked;
  for (const std::string& address : addresses) {
    const auto response = ask(reach, address, {}, stop);
    if (!response) return fail(response.error());
    if (response->status == 200) return json_object_in(*response, address);
    asked +=
        (asked.empty() ? "" : ", ") + shown(address) + " (HTTP " + std::to_string(response->status) + ")";
    if (response->status >= 300 && response->status < 400)
      return refused(shown(address) + " redirects, which is not followed");
  }
  return refused("no metadata was found at " + asked);
}

Result<OauthResource> find_resource(const OauthReach& reach, const Url& server,
                                    const OauthChallenge& challenge, const std::stop_token& stop) {
  std::vector<std::string> addresses = resource_addresses(server);
  if (!challenge.metadata.empty()) {
    const auto named = parse_url(challenge.metadata);
    if (!named || origin_of(*named) != origin_of(server))
      return refused("the server names metadata of another place than its own: \"" +
                     shown(challenge.metadata) + "\"");
    addresses = {challenge.metadata};
  }
  const auto document = first_of(reach, addresses, stop);
  if (!document) return fail(document.error());
  return read_resource(*document, server);
}

Result<std::string> choose_issuer(const OauthResource& resource, const OauthIdentity& identity) {
  if (identity.issuer.empty()) return resource.issuers.front();
  if (std::ranges::find(resource.issuers, identity.issuer) != resource.issuers.end()) return identity.issuer;
  return refused("the client id is that of \"" + shown(identity.issuer) + "\", but the server sends to \"" +
                 shown(resource.issuers.front()) + "\"");
}

/// How a client with a secret shows it.
std::string method_of(const OauthIssuer& issuer, const std::string& secret) {
  if (secret.empty()) return "none";
  for (const char* const method : {"client_secret_basic", "client_secret_post"}) {
    if (std::ranges::find(issuer.auth_methods, method) != issuer.auth_methods.end()) return method;
  }
  return "client_secret_basic";  // what a server that says nothing supports
}

Result<OauthClient> registered_client(const OauthReach& reach, const OauthIssuer& issuer,
                                      const std::string& redirect, const std::stop_token& stop) {
  const bool is_public = issuer.auth_methods.empty() || std::ranges::count(issuer.auth_methods, "none") > 0;
  const Json wanted = JsonObject{{"client_name", "Praxis"},
                                 {"redirect_uris", JsonArray{redirect}},
                                 {"grant_types", JsonArray{"authorization_code", "refresh_token"}},
                                 {"response_types", JsonArray{"code"}},
                                 {"application_type", "native"},
                                 {"token_endpoint_auth_method", is_public ? "none" : method_of(issuer, "x")}};
  HttpRequest request;
  request.method = "POST";
  request.headers.emplace_back("Content-Type", "application/json");
  request.body = std::make_shared<const std::string>(to_json_text(wanted));
  const auto response = ask(reach, issuer.registration_endpoint, std::move(request), stop);
  if (!response) return fail(response.error());
  const auto made = json_object_in(*response, issuer.registration_endpoint);
  if (response->status / 100 != 2 || !made) {
    const std::string why = made ? ": " + shown(json_text(*made, "error")) : "";
    return refused(shown(issuer.issuer) + " refused to register Praxis (HTTP " +
                   std::to_string(response->status) + ")" + why);
  }
  OauthClient client{json_string(*made, "client_id"), json_string(*made, "client_secret"),
                     json_string(*made, "token_endpoint_auth_method")};
  if (client.id.empty()) return refused(shown(issuer.issuer) + " registered Praxis without a client id");
  if (client.method.empty()) client.method = method_of(issuer, client.secret);
  return client;
}

/// Sends a form in the name of the client, whose name or proof is added to `fields`.
Result<HttpResponse> ask_as(const OauthReach& reach, const std::string& address, const OauthClient& client,
                            FormFields& fields, const std::stop_token& stop) {
  HttpRequest request;
  request.method = "POST";
  request.headers.emplace_back("Content-Type", kFormType);
  if (client.method == "client_secret_basic") {
    request.headers.emplace_back("Authorization", "Basic " + base64_encode(percent_encode(client.id) + ':' +
                                                                           percent_encode(client.secret)));
  } else {
    fields.emplace_back("client_id", client.id);
    if (client.method == "client_secret_post") fields.emplace_back("client_secret", client.secret);
  }
  request.body = std::make_shared<const std::string>(form_of(fields));
  return ask(reach, address, std::move(request), stop);
}

Result<OauthTokens> read_tokens(const Json& document, const std::string& issuer) {
  OauthTokens tokens{json_string(document, "access_token"), json_string(document, "refresh_token"),
                     json_string(document, "scope"),
                     std::chrono::seconds(std::max<std::int64_t>(0, json_int(document, "expires_in")))};
  std::string type = json_string(document, "token_type");
  std::ranges::transform(type, type.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  if (tokens.access.empty() || type != "bearer" || !is_sendable(tokens.access) ||
      !is_sendable(tokens.refresh))
    return refused(shown(issuer) + " gave no bearer token");
  return tokens;
}

/// What a server says of a refusal, unless it repeats what was sent.
std::string described(const Json& document, const FormFields& fields) {
  std::string text = json_string(document, "error_description");
  const auto repeats = [&](const auto& field) {
    return field.second.size() > 3 && text.contains(field.second);
  };
  if (text.empty() || std::ranges::any_of(fields, repeats)) return {};
  return " (" + shown(text) + ")";
}

}  // namespace

Result<Url> check_oauth_address(const OauthReach& reach, std::string_view address) {
  auto url = parse_url(address);
  if (!url) return refused("the address \"" + shown(address) + "\" is of no use: " + url.error().message);
  const bool is_here = reach.is_local && is_loopback_host(*url);
  if (url->scheme != "https" && !is_here)
    return refused("the address \"" + shown(address) + "\" must begin with https://");
  return url;
}

Result<OauthIssuer> find_issuer(const OauthReach& reach, const std::string& issuer,
                                const std::stop_token& stop) {
  const auto address = check_oauth_address(reach, issuer);
  if (!address) return fail(address.error());
  const auto document = first_of(reach, issuer_addresses(*address), stop);
  if (!document) return fail(document.error());
  auto found = read_issuer(*document, issuer);
  if (!found) return found;
  for (const std::string& endpoint : {found->authorisation_endpoint, found->token_endpoint}) {
    if (auto checked = check_oauth_address(reach, endpoint); !checked) return fail(checked.error());
  }
  return found;
}

Result<OauthPlace> find_login(const OauthReach& reach, const std::string& server,
                              const OauthChallenge& challenge, const OauthIdentity& identity,
                              const std::stop_token& stop) {
  const auto url = check_oauth_address(reach, server);
  if (!url) return fail(url.error());
  auto resource = find_resource(reach, *url, challenge, stop);
  if (!resource) return fail(resource.error());
  const auto chosen = choose_issuer(*resource, identity);
  if (!chosen) return fail(chosen.error());
  auto issuer = find_issuer(reach, *chosen, stop);
  if (!issuer) return fail(std::move(issuer.error()));
  return OauthPlace{*std::move(resource), *std::move(issuer)};
}

Result<OauthClient> oauth_client(const OauthReach& reach, const OauthIssuer& issuer,
                                 const OauthIdentity& identity, const std::string& redirect,
                                 const std::stop_token& stop) {
  if (!identity.id.empty())
    return OauthClient{identity.id, identity.secret, method_of(issuer, identity.secret)};
  if (!identity.address.empty() && issuer.takes_client_addresses)
    return OauthClient{identity.address, {}, "none"};
  if (issuer.registration_endpoint.empty())
    return refused(
        shown(issuer.issuer) +
        " registers no clients by itself: register Praxis there, and set `client_id` and `issuer`");
  return registered_client(reach, issuer, redirect, stop);
}

Result<OauthTokens> fetch_tokens(const OauthReach& reach, const OauthIssuer& issuer,
                                 const OauthClient& client, FormFields fields, const std::stop_token& stop) {
  const auto response = ask_as(reach, issuer.token_endpoint, client, fields, stop);
  if (!response) return fail(response.error());
  const auto document = json_object_in(*response, issuer.token_endpoint);
  if (response->status == 200 && document) return read_tokens(*document, issuer.issuer);
  const std::string error = document ? shown(json_text(*document, "error")) : "";
  Error refusal =
      make_error(ErrorCode::kTool, ErrorKind::kAuthorisation,
                 shown(issuer.issuer) + " gave no token (HTTP " + std::to_string(response->status) + ")" +
                     (error.empty() ? "" : ": ") + error);
  if (document) refusal.message += described(*document, fields);
  refusal.set("oauth_error", error);
  return fail(std::move(refusal));
}

Status revoke_token(const OauthReach& reach, const OauthIssuer& issuer, const OauthClient& client,
                    const std::string& token, const std::stop_token& stop) {
  FormFields fields{{"token", token}};
  const auto response = ask_as(reach, issuer.revocation_endpoint, client, fields, stop);
  if (!response) return fail(response.error());
  if (response->status / 100 == 2) return {};
  return refused(shown(issuer.issuer) + " did not end the login (HTTP " + std::to_string(response->status) +
                 ")");
}

}  // namespace praxis
