// A login of OAuth 2.1 from beginning to end: authorisation code with PKCE, and its renewal.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "mcp/oauth.hpp"
#include "mcp/oauth_redirect.hpp"
#include "praxis/base/environment.hpp"

namespace praxis {

/// What a login gave, with what its renewal needs.
struct OauthLogin {
  std::string issuer;
  std::string resource;  ///< the name of the server for itself
  OauthClient client;
  OauthTokens tokens;
  std::string scope;  ///< what was asked for
};

/// What a login needs.
struct OauthRequest {
  std::string server;  ///< address of the MCP server
  OauthChallenge challenge;
  OauthIdentity identity;
  /// What an earlier login at the same issuer asked for is part of what this one asks for.
  std::optional<OauthLogin> earlier = std::nullopt;
  /// Gets the address that the person opens, on the calling thread.
  std::function<void(const std::string& address)> show = nullptr;
  std::chrono::milliseconds limit{600'000};  ///< for the person
};

/// The code of an answer. Errors `kTool`: it comes from another issuer, is an error, or has no code; nothing
/// of an answer that comes from elsewhere is shown.
Result<std::string> code_of(const OauthAnswer& answer, const OauthIssuer& issuer);

/// Finds the place of the login, shows the address, waits for the answer and gets the tokens. Errors: those
/// of the steps.
Result<OauthLogin> log_in(const OauthReach& reach, const OauthRequest& request, Environment& environment,
                          const std::stop_token& stop);
/// Gets new tokens for a login that has ended, from the same issuer. Errors `kTool`: the server sends to
/// another issuer now, the login cannot be renewed, or its issuer refuses (`oauth_error`).
Result<OauthLogin> renew_login(const OauthReach& reach, const OauthRequest& request, OauthLogin login,
                               const std::stop_token& stop);

/// Ends a login at its issuer: the token that renews it, and the one in use. Errors: those of the steps;
/// `kTool`, the issuer does not offer it.
Status end_login(const OauthReach& reach, const OauthLogin& login, const std::stop_token& stop);

}  // namespace praxis
