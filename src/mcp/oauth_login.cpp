#include "mcp/oauth_login.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "mcp/connection.hpp"

namespace praxis {
namespace {

constexpr std::size_t kShownIssuer = 200;

std::unexpected<Error> not_logged_in(std::string why) {
  return fail(ErrorCode::kTool, ErrorKind::kAuthorisation, std::move(why));
}

/// What to ask for: what the request needs, or what the server suggests, and what was asked for before.
std::string scope_of(const OauthPlace& place, const OauthRequest& request) {
  const std::string& needed =
      request.challenge.scope.empty() ? place.resource.scope : request.challenge.scope;
  const bool is_again = request.earlier && request.earlier->issuer == place.issuer.issuer;
  std::string scope = joined_scopes(is_again ? request.earlier->scope : "", needed);
  if (!scope.empty() && place.issuer.gives_offline_access) scope = joined_scopes(scope, "offline_access");
  return scope;
}

/// An endpoint may have a query of its own, which stays.
std::string address_with(const std::string& endpoint, const FormFields& fields) {
  return endpoint + (endpoint.contains('?') ? '&' : '?') + form_of(fields);
}

}  // namespace

Result<std::string> code_of(const OauthAnswer& answer, const OauthIssuer& issuer) {
  const auto field = [&](const char* name) {
    const auto found = answer.find(name);
    return found == answer.end() ? std::string() : found->second;
  };
  const bool is_named = answer.contains("iss");
  if (is_named ? field("iss") != issuer.issuer : issuer.names_itself) {
    return not_logged_in("the answer does not come from " + mcp_shown(issuer.issuer, kShownIssuer) +
                         ", where the login began; it was not used");
  }
  if (!field("error").empty()) {
    const std::string more = field("error_description");
    return not_logged_in(mcp_shown(issuer.issuer, kShownIssuer) +
                         " refused the login: " + mcp_shown(field("error"), kShownIssuer) +
                         (more.empty() ? "" : " (" + mcp_shown(more, kShownIssuer) + ")"));
  }
  if (field("code").empty()) return not_logged_in("the answer to the login has no code");
  return field("code");
}

Result<OauthLogin> log_in(const OauthReach& reach, const OauthRequest& request, Environment& environment,
                          const std::stop_token& stop) {
  auto place = find_login(reach, request.server, request.challenge, request.identity, stop);
  if (!place) return fail(std::move(place.error()));
  const std::string state = oauth_random(environment), verifier = oauth_random(environment);
  const auto redirect = OauthRedirect::start(state);
  if (!redirect) return fail(redirect.error());
  const std::string& address = (*redirect)->address();
  auto client = oauth_client(reach, place->issuer, request.identity, address, stop);
  if (!client) return fail(std::move(client.error()));
  const std::string scope = scope_of(*place, request);
  request.show(
      address_with(place->issuer.authorisation_endpoint, {{"response_type", "code"},
                                                          {"client_id", client->id},
                                                          {"redirect_uri", address},
                                                          {"state", state},
                                                          {"code_challenge", pkce_challenge(verifier)},
                                                          {"code_challenge_method", "S256"},
                                                          {"scope", scope},
                                                          {"resource", place->resource.resource}}));
  const auto answer = (*redirect)->wait(stop, request.limit);
  if (!answer) return fail(answer.error());
  const auto code = code_of(*answer, place->issuer);
  if (!code) return fail(code.error());
  auto tokens = fetch_tokens(reach, place->issuer, *client,
                             {{"grant_type", "authorization_code"},
                              {"code", *code},
                              {"code_verifier", verifier},
                              {"redirect_uri", address},
                              {"resource", place->resource.resource}},
                             stop);
  if (!tokens) return fail(std::move(tokens.error()));
  return OauthLogin{place->issuer.issuer, place->resource.resource, *std::move(client), *std::move(tokens),
                    scope};
}

Result<OauthLogin> renew_login(const OauthReach& reach, const OauthRequest& request, OauthLogin login,
                               const std::stop_token& stop) {
  if (login.tokens.refresh.empty()) return not_logged_in("the login has ended");
  // Where the server sends to now: a token of another issuer would be of no use to it.
  const auto place = find_login(reach, request.server, request.challenge, request.identity, stop);
  if (!place) return fail(place.error());
  if (place->issuer.issuer != login.issuer || place->resource.resource != login.resource) {
    return not_logged_in("the server sends to " + mcp_shown(place->issuer.issuer, kShownIssuer) +
                         " now, the login is that of " + mcp_shown(login.issuer, kShownIssuer));
  }
  auto tokens = fetch_tokens(reach, place->issuer, login.client,
                             {{"grant_type", "refresh_token"},
                              {"refresh_token", login.tokens.refresh},
                              {"resource", login.resource}},
                             stop);
  if (!tokens) return fail(std::move(tokens.error()));
  if (tokens->refresh.empty()) tokens->refresh = std::move(login.tokens.refresh);
  if (tokens->scope.empty()) tokens->scope = std::move(login.tokens.scope);
  login.tokens = *std::move(tokens);
  return login;
}

Status end_login(const OauthReach& reach, const OauthLogin& login, const std::stop_token& stop) {
  const auto issuer = find_issuer(reach, login.issuer, stop);
  if (!issuer) return fail(issuer.error());
  if (issuer->revocation_endpoint.empty())
    return fail(ErrorCode::kTool, ErrorKind::kFailed,
                mcp_shown(login.issuer, kShownIssuer) + " ends no logins on request");
  for (const std::string& token : {login.tokens.refresh, login.tokens.access}) {
    if (token.empty()) continue;
    if (auto ended = revoke_token(reach, *issuer, login.client, token, stop); !ended) return ended;
  }
  return {};
}

}  // namespace praxis
