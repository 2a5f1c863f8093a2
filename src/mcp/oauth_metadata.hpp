// The two documents by which a client finds where to log in: that of the protected resource (RFC 9728) and
// that of its authorisation server (RFC 8414, OpenID Connect Discovery), by the path rules of MCP.
#pragma once

#include <string>
#include <vector>

#include "praxis/json/json.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

/// What an MCP server says of who logs its users in.
struct OauthResource {
  std::string resource;              ///< its own name for itself, as it wrote it
  std::vector<std::string> issuers;  ///< at least one
  std::string scope;                 ///< what it suggests to ask for; may be empty
};

/// What an authorisation server says of itself. Its addresses are not checked.
struct OauthIssuer {
  std::string issuer;
  std::string authorisation_endpoint;
  std::string token_endpoint;
  std::string registration_endpoint;      ///< empty: nothing registers itself
  std::string revocation_endpoint;        ///< empty: it ends no tokens on request (RFC 7009)
  bool names_itself = false;              ///< its answers say who gives them (`iss`, RFC 9207)
  bool takes_client_addresses = false;    ///< a client id may be the address of a metadata document
  bool gives_offline_access = false;      ///< knows the scope `offline_access`
  std::vector<std::string> auth_methods;  ///< of its token endpoint; empty: it does not say
};

/// `scheme://host`, with the port unless it is that of the scheme.
std::string origin_of(const Url& url);
/// Whether the host is this machine: `localhost` or a loopback address.
bool is_loopback_host(const Url& url);
/// Where the metadata of an MCP server may be, the first place first.
std::vector<std::string> resource_addresses(const Url& server);
/// Where the metadata of an authorisation server may be, the first place first.
std::vector<std::string> issuer_addresses(const Url& issuer);

/// Error `kTool`: it names another resource than `server` or what contains it, or no authorisation server.
Result<OauthResource> read_resource(const Json& document, const Url& server);
/// Error `kTool`: it is that of another issuer, lacks an endpoint, or does not support PKCE with S256.
Result<OauthIssuer> read_issuer(const Json& document, const std::string& issuer);

}  // namespace praxis
