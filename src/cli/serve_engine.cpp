#include "cli/serve_engine.hpp"

#include <string>
#include <utility>
#include <vector>

#include "app/hints.hpp"
#include "app/own_folder.hpp"
#include "app/tokens.hpp"
#include "cli/server_token.hpp"
#include "net/socket_address.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/net/http_client.hpp"
#include "server/access.hpp"

namespace praxis::cli {
namespace {

/// A base URL without a `/` at its end.
Result<std::string> base_url(std::string text, const std::string& option) {
  while (text.ends_with('/')) text.pop_back();
  if (const auto url = parse_url(text); !url)
    return fail(
        app::usage_error(option + ": " + url.error().message, "give a URL such as http://127.0.0.1:8080"));
  return text;
}

/// Engine and process send records and the token in the clear.
Status check_engine_reach(const std::string& url, const std::string& option, bool plain_http) {
  const auto parsed = parse_url(url);
  if (plain_http || !parsed || parsed->scheme == "https" || parsed->host == "localhost") return {};
  const auto address = SocketAddress::parse(parsed->host, parsed->port);
  if (address && address->is_loopback()) return {};
  return fail(app::usage_error(option +
                                   ": others on the network could read what goes between the engine at " +
                                   parsed->host + " and this process",
                               "give --plain-http if that network is private"));
}

Status check_engine_journal(const app::Workspace& workspace) {
  if (!workspace.keeps_runs()) {
    return fail(app::usage_error("--engine needs a journal that keeps what the engine hands over",
                                 "name a file or a database: --journal FILE"));
  }
  if (workspace.config.get("encryption.journal_key").empty()) return {};
  return fail(app::usage_error("the journal is sealed, but an engine would store the records unsealed",
                               "leave out --engine, or encryption.journal_key"));
}

Result<std::string> engine_token(const EngineOptions& options) {
  std::string file = options.token_file;
  if (file.empty()) {
    const auto folder = app::own_folder("XDG_STATE_HOME", ".local/state");
    if (folder.empty()) {
      return fail(app::usage_error("there is no home folder for the token of the engine",
                                   "name a file: --engine-token-file FILE"));
    }
    file = (folder / "engine-token").string();
  }
  const auto tokens = server::read_tokens(file, "praxis-" + app::random_secret(*system_environment()));
  if (!tokens) return fail(tokens.error());
  return token_for("", file);
}

Result<std::vector<restate::IdentityKey>> identity_keys(const EngineOptions& options) {
  std::vector<restate::IdentityKey> keys;
  for (const std::string& text : options.identity_keys) {
    const auto key = restate::read_identity_key(text);
    if (!key) {
      return fail(app::usage_error("--engine-identity-key: " + key.error().message,
                                   "the log of Restate names it at its start: publickeyv1_..."));
    }
    keys.push_back(*key);
  }
  return keys;
}

}  // namespace

Result<std::optional<server::RestateOptions>> engine_of(const EngineOptions& options,
                                                        const app::Workspace& workspace, bool plain_http) {
  if (options.name.empty()) return std::nullopt;
  if (auto kept = check_engine_journal(workspace); !kept) return fail(kept.error());
  server::RestateOptions restate;
  const std::string listened = "http://" + options.listen;
  const auto ingress = base_url(options.ingress, "--engine-ingress");
  if (!ingress) return fail(ingress.error());
  const auto admin = base_url(options.admin, "--engine-admin");
  if (!admin) return fail(admin.error());
  const auto listen = parse_url(listened);
  if (!listen)
    return fail(app::usage_error("--engine-listen: not an address and a port: " + options.listen,
                                 "give one such as 127.0.0.1:9080"));
  if (options.address.empty() && (listen->host == "0.0.0.0" || listen->host == "::")) {
    return fail(app::usage_error("the engine cannot reach this process at " + listen->host,
                                 "name an address of this machine: --engine-address http://HOST:PORT"));
  }
  auto reached =
      options.address.empty() ? Result<std::string>("") : base_url(options.address, "--engine-address");
  if (!reached) return fail(reached.error());
  for (const auto& [url, option] :
       {std::pair{listened, "--engine-listen"}, {*admin, "--engine-admin"}, {*reached, "--engine-address"}}) {
    if (auto good = check_engine_reach(url, option, plain_http); !good) return fail(good.error());
  }
  auto keys = identity_keys(options);
  if (!keys) return fail(keys.error());
  auto token = engine_token(options);
  if (!token) return fail(token.error());
  restate.ingress = *ingress;
  restate.admin = *admin;
  restate.reached_at = *std::move(reached);
  restate.token = *std::move(token);
  restate.keys = *std::move(keys);
  restate.http.address = listen->host;
  restate.http.port = listen->port;
  return restate;
}

}  // namespace praxis::cli
