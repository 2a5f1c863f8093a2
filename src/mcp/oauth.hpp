// The steps of OAuth 2.1 that ask servers: find out where to log in, get a client id, get tokens. All answers
// are foreign text, with bounds. Each function waits, at most half a minute for each request.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/oauth_challenge.hpp"
#include "mcp/oauth_metadata.hpp"
#include "mcp/oauth_text.hpp"

namespace praxis {

/// Where requests may go: over TLS only, except on this machine if the MCP server is on it too.
struct OauthReach {
  std::shared_ptr<HttpClient> http;
  std::function<AddressRule(const Url&)> rule_for;  ///< the addresses that the host of a URL may lead to
  bool is_local = false;                            ///< the MCP server is on this machine
  bool use_proxy = true;                            ///< as in `HttpRequest`
};

/// How the client presents itself, as the user has set it up. All may be empty.
struct OauthIdentity {
  std::string id = {};       ///< registered in advance with `issuer`
  std::string secret = {};   ///< of `id`
  std::string issuer = {};   ///< who knows `id`
  std::string address = {};  ///< of a client-id metadata document
};

/// A client as an authorisation server knows it.
struct OauthClient {
  std::string id;
  std::string secret;  ///< empty: a public client
  std::string method;  ///< of its requests for tokens: `none`, `client_secret_basic`, `client_secret_post`
};

/// Where the login of an MCP server is.
struct OauthPlace {
  OauthResource resource;
  OauthIssuer issuer;
};

struct OauthTokens {
  std::string access;
  std::string refresh;              ///< empty: none
  std::string scope;                ///< empty: what was asked for
  std::chrono::seconds lifetime{};  ///< 0: unknown
};

/// Error `kTool`: not a URL, without TLS, or to a place where requests may not go.
Result<Url> check_oauth_address(const OauthReach& reach, std::string_view address);

/// What the authorisation server `issuer` says of itself. Errors as `find_login`.
Result<OauthIssuer> find_issuer(const OauthReach& reach, const std::string& issuer,
                                const std::stop_token& stop);
/// Finds the authorisation server of an MCP server, that of the identity if it names one. Errors `kTool`, as
/// those of `http_fetch`; `kCancelled`.
Result<OauthPlace> find_login(const OauthReach& reach, const std::string& server,
                              const OauthChallenge& challenge, const OauthIdentity& identity,
                              const std::stop_token& stop);
/// The client of an identity: its id, or its address, or a registration with `redirect` (RFC 7591). Errors as
/// above.
Result<OauthClient> oauth_client(const OauthReach& reach, const OauthIssuer& issuer,
                                 const OauthIdentity& identity, const std::string& redirect,
                                 const std::stop_token& stop);
/// Asks for tokens with these fields, whose values are never part of an error. Errors as above; a refusal has
/// `oauth_error` in the detail.
Result<OauthTokens> fetch_tokens(const OauthReach& reach, const OauthIssuer& issuer,
                                 const OauthClient& client, FormFields fields, const std::stop_token& stop);

/// Ends a token at its issuer; one that has ended already counts as ended. Errors as above.
Status revoke_token(const OauthReach& reach, const OauthIssuer& issuer, const OauthClient& client,
                    const std::string& token, const std::stop_token& stop);

}  // namespace praxis
