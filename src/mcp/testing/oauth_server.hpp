// For tests: an MCP server over HTTP and its authorisation server, both real HTTP servers on 127.0.0.1, which
// may misbehave, and a person who opens addresses.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mcp/oauth_text.hpp"
#include "net/testing/test_server.hpp"
#include "praxis/json/json.hpp"

namespace praxis::testing {

/// How the servers behave. Set before they are used; what is empty is as it should be.
struct OauthBehaviour {
  std::string metadata_address = {};   ///< in the challenge
  std::string resource = {};           ///< in the metadata of the MCP server
  std::string issuer = {};             ///< in the metadata of the authorisation server
  std::string iss = {};                ///< in its answer; "-": none
  std::string scope = {};              ///< in the challenge
  std::string token_scope = {};        ///< the server wants it for calls of tools (403)
  std::string metadata_redirect = {};  ///< the metadata of the MCP server redirects to it
  std::string pkce_method = "S256";
  std::string registered_secret = {};  ///< of a client that registers itself
  std::size_t padding = 0;             ///< bytes that make the metadata larger
  bool names_itself = true;            ///< says that its answers have `iss`
  bool registers = true;
  bool revokes = false;  ///< ends tokens on request
  bool gives_refresh_token = true;
  bool takes_client_addresses = false;
  bool refuses = false;        ///< the person says no
  bool lists_for_all = false;  ///< only calls of tools need a token
};

class OauthServers {
 public:
  OauthServers()
      : issuer_([this](const TestRequest& request, TestConnection& to) { to.write(answer_issuer(request)); }),
        server_(
            [this](const TestRequest& request, TestConnection& to) { to.write(answer_server(request)); }) {}

  std::string url() const { return server_.url("/mcp"); }
  std::string issuer() const { return issuer_.url(""); }

  void behave(const OauthBehaviour& behaviour) {
    const std::lock_guard lock(mutex_);
    as_ = behaviour;
  }
  /// All access tokens end.
  void expire() {
    const std::lock_guard lock(mutex_);
    access_.clear();
  }
  /// Calls `task` before the next request for tokens is answered, and accepts the token `access` from then
  /// on.
  void before_token(std::string access, std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    before_token_ = [this, access = std::move(access), task = std::move(task)] {
      access_[access] = "";
      task();
    };
  }
  /// All refresh tokens end too.
  void revoke() {
    const std::lock_guard lock(mutex_);
    access_.clear();
    refresh_.clear();
  }

  /// The fields of the requests for tokens so far; `authorization` is the header.
  std::vector<std::map<std::string, std::string>> token_requests() const {
    std::vector<std::map<std::string, std::string>> all;
    for (const TestRequest& request : issuer_.requests()) {
      if (request.target != "/token") continue;
      all.push_back(read_form(request.body).value());
      if (const auto header = find_header(request.headers, "Authorization"))
        all.back()["authorization"] = *header;
    }
    return all;
  }
  std::vector<TestRequest> issuer_requests() const { return issuer_.requests(); }
  std::vector<TestRequest> server_requests() const { return server_.requests(); }
  /// The registrations so far.
  std::vector<Json> registrations() const {
    std::vector<Json> all;
    for (const TestRequest& request : issuer_.requests())
      if (request.target == "/register") all.push_back(parse_json(request.body).value());
    return all;
  }

  /// The person opens the address, agrees, and the browser goes where it is sent. Returns its last status.
  static int open(const std::string& address) {
    const auto http = make_http_client();
    std::string next = address;
    for (int hops = 0; hops < 5; ++hops) {
      HttpRequest request;
      request.url = next;
      request.use_proxy = false;
      const auto response = http_fetch(*http, std::move(request));
      if (!response) return 0;
      const auto to = find_header(response->headers, "Location");
      if (!to) return response->status;
      next = std::string(*to);
    }
    return 0;
  }
  /// A field of the query of an address.
  static std::string field(const std::string& address, const std::string& name) {
    return read_form(address.substr(address.find('?') + 1)).value()[name];
  }

 private:
  std::string answer_issuer(const TestRequest& request) {
    const std::lock_guard lock(mutex_);
    const std::string_view target = request.target;
    if (target == "/.well-known/oauth-authorization-server") return http_reply(200, issuer_metadata());
    if (target.starts_with("/authorize?")) return redirect(authorise(request.target));
    if (target == "/register" && as_.registers) {
      JsonObject made{{"client_id", "registered-7"}};
      if (!as_.registered_secret.empty()) made["client_secret"] = as_.registered_secret;
      return http_reply(201, to_json_text(made));
    }
    if (target == "/revoke" && as_.revokes) {
      const std::string token = read_form(request.body).value()["token"];
      access_.erase(token);
      refresh_.erase(token);
      return http_reply(200, "");
    }
    return target == "/token" ? give_token(read_form(request.body).value()) : http_reply(404, "");
  }

  std::string issuer_metadata() const {
    JsonObject document{{"issuer", as_.issuer.empty() ? issuer() : as_.issuer},
                        {"authorization_endpoint", issuer() + "/authorize"},
                        {"token_endpoint", issuer() + "/token"},
                        {"code_challenge_methods_supported", JsonArray{Json(as_.pkce_method)}},
                        {"authorization_response_iss_parameter_supported", as_.names_itself},
                        {"client_id_metadata_document_supported", as_.takes_client_addresses}};
    if (as_.registers) document["registration_endpoint"] = issuer() + "/register";
    if (as_.revokes) document["revocation_endpoint"] = issuer() + "/revoke";
    return to_json_text(document);
  }

  std::string authorise(const std::string& target) {
    auto asked = read_form(target.substr(target.find('?') + 1)).value();
    challenge_ = asked["code_challenge"];
    scope_ = asked["scope"];
    FormFields answer{{"state", asked["state"]}};
    answer.emplace_back(as_.refuses ? "error" : "code", as_.refuses ? "access_denied" : "code-1");
    if (as_.iss != "-") answer.emplace_back("iss", as_.iss.empty() ? issuer() : as_.iss);
    return asked["redirect_uri"] + '?' + form_of(answer);
  }

  std::string give_token(std::map<std::string, std::string> asked) {
    if (auto task = std::exchange(before_token_, nullptr)) task();
    const bool is_renewal = asked["grant_type"] == "refresh_token";
    const bool is_good =
        is_renewal ? refresh_.erase(asked["refresh_token"]) > 0
                   : asked["code"] == "code-1" && pkce_challenge(asked["code_verifier"]) == challenge_;
    if (!is_good) return http_reply(400, R"({"error": "invalid_grant"})");
    const std::string number = std::to_string(++given_);
    access_["access-secret-" + number] = scope_;
    JsonObject given{
        {"access_token", "access-secret-" + number}, {"token_type", "Bearer"}, {"expires_in", 3600}};
    if (as_.gives_refresh_token) {
      refresh_.insert("refresh-secret-" + number);
      given["refresh_token"] = "refresh-secret-" + number;
    }
    return http_reply(200, to_json_text(given));
  }

  std::string answer_server(const TestRequest& request) {
    const std::lock_guard lock(mutex_);
    if (request.method == "GET") {
      if (!as_.metadata_redirect.empty()) return redirect(as_.metadata_redirect);
      if (request.target != "/.well-known/oauth-protected-resource/mcp") return http_reply(404, "");
      const Json document = JsonObject{{"resource", as_.resource.empty() ? url() : as_.resource},
                                       {"authorization_servers", JsonArray{Json(issuer())}},
                                       {"padding", std::string(as_.padding, 'x')}};
      return http_reply(200, to_json_text(document));
    }
    const std::string_view sent = find_header(request.headers, "Authorization").value_or("");
    const auto found = sent.starts_with("Bearer ") ? access_.find(sent.substr(7)) : access_.end();
    const auto message = parse_json(request.body).value();
    const bool is_call = json_text(message, "method") == "tools/call";
    const bool is_free = as_.lists_for_all && !is_call;
    if (!is_free && found == access_.end()) return refusal(401, as_.scope, "");
    if (is_call && !has_scopes(found->second, as_.token_scope))
      return refusal(403, as_.token_scope, R"(, error="insufficient_scope")");
    return http_reply(200, answer_message(message), "Content-Type: application/json\r\n");
  }

  std::string refusal(int status, const std::string& scope, const std::string& more) const {
    const std::string place = as_.metadata_address.empty()
                                  ? server_.url("/.well-known/oauth-protected-resource/mcp")
                                  : as_.metadata_address;
    return http_reply(status, "",
                      "WWW-Authenticate: Bearer resource_metadata=\"" + place + "\", scope=\"" + scope +
                          "\"" + more + "\r\n");
  }

  static std::string answer_message(const Json& message) {
    const std::string_view method = json_text(message, "method");
    JsonObject result{{"resultType", "complete"}};
    if (method == "server/discover") {
      result["supportedVersions"] = JsonArray{"2026-07-28"};
      result["capabilities"] = JsonObject{{"tools", JsonObject{}}};
    } else if (method == "tools/list") {
      result["tools"] =
          JsonArray{JsonObject{{"name", "echo"}, {"inputSchema", JsonObject{{"type", "object"}}}}};
    } else {
      result["content"] = JsonArray{JsonObject{{"type", "text"}, {"text", "echoed"}}};
    }
    return to_json_text(JsonObject{{"jsonrpc", "2.0"}, {"id", json_at(message, "id")}, {"result", result}});
  }

  static std::string redirect(const std::string& to) {
    return http_reply(302, "", "Location: " + to + "\r\n");
  }

  mutable std::mutex mutex_;
  OauthBehaviour as_;
  std::map<std::string, std::string, std::less<>> access_;  ///< the scope of each token
  std::set<std::string> refresh_;
  std::string challenge_, scope_;
  int given_ = 0;
  std::function<void()> before_token_;
  TestServer issuer_, server_;
};

}  // namespace praxis::testing
