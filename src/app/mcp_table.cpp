#include "app/mcp_table.hpp"

#include <cstdlib>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/mcp_entry.hpp"
#include "app/mcp_login.hpp"
#include "app/mcp_pins.hpp"
#include "app/plain_text.hpp"
#include "app/secret_text.hpp"
#include "app/secret_uses.hpp"
#include "app/setting_key.hpp"
#include "app/source_file.hpp"
#include "app/values.hpp"
#include "praxis/policy/policy.hpp"
#include "tools/host_rules.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFile = std::size_t{1} << 20;  ///< bytes of a file with `mcpServers`

class McpTable {
 public:
  McpTable(const TomlDocument& document, std::string name, const McpPlaces& places,
           const AgentFileOptions& options)
      : document_(document),
        name_(std::move(name)),
        place_("tools.mcp." + name_),
        table_(document.at(place_)),
        folder_(places.start),
        places_(places),
        options_(options) {}

  Result<McpServer> read(const FileBounds& bounds, const CheckGranted& check_granted) const {
    auto entry = entry_of();
    if (!entry) return fail(std::move(entry.error()));
    McpServer server;
    server.options = tool_options();
    if (const std::string state = state_folder(); !state.empty())
      server.options.acceptance = std::make_shared<McpPins>(state, identity_of(*entry));
    if (auto checked = check_mcp_name(name_); !checked) return mistake(checked.error().message);
    if (auto ruled = check_rule(); !ruled) return fail(std::move(ruled.error()));
    McpBounds within;
    within.answers_questions = within.takes_tasks = true;
    within.gives_samples = !json_at(table_, "sampling").is_null();
    if (const Millis time = duration_of(json_at(table_, "start_timeout")); time > Millis{0})
      within.start = time;
    within.result_bytes = static_cast<std::size_t>(
        json_int(table_, "max_result", static_cast<std::int64_t>(within.result_bytes)));
    within.roots = paths_of(json_at(table_, "roots"), folder_);
    if (entry->url.empty()) {
      auto program = program_of(*std::move(entry), bounds, check_granted);
      if (!program) return fail(std::move(program.error()));
      server.client = std::make_shared<McpClient>(*std::move(program), within);
      return server;
    }
    auto endpoint = endpoint_of(*std::move(entry));
    if (!endpoint) return fail(std::move(endpoint.error()));
    server.access = endpoint->access;
    server.client = std::make_shared<McpClient>(*std::move(endpoint), within);
    return server;
  }

 private:
  std::unexpected<Error> mistake(const std::string& text) const {
    return document_.mistake(place_, '[' + place_ + "] " + text);
  }
  std::unexpected<Error> mistake_at(const std::string& key, const std::string& text) const {
    return document_.mistake(place_ + '.' + key, text);
  }
  std::vector<std::string> texts(std::string_view key) const { return texts_of(json_at(table_, key)); }

  /// The server as the table says it, or as the file does that the table names.
  Result<McpEntry> entry_of() const {
    const auto has = [&](const char* key) { return !json_at(table_, key).is_null(); };
    if (has("command") + has("url") + has("from") != 1)
      return mistake("needs one of \"command\", \"url\" and \"from\"");
    if (!has("from")) {
      McpEntry entry{.command = texts("command"), .url = json_string(table_, "url")};
      if (has("command") && entry.command.empty())
        return mistake_at("command", "\"command\" must name a program");
      return entry;
    }
    const std::string path = (places_.home / json_string(table_, "from")).lexically_normal();
    if (auto checked = places_.check_file(place_ + ".from", path); !checked)
      return fail(std::move(checked.error()));
    const auto text = read_source(options_, path, kMostFile);
    if (!text) return mistake_at("from", text.error().message);
    auto entry = read_mcp_entry(*text, name_, [](const std::string& name) -> std::optional<std::string> {
      const char* const value = std::getenv(name.c_str());
      return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    });
    if (!entry) return mistake_at("from", in_quotes(path) + ' ' + entry.error().message);
    return entry;
  }

  /// Identifies the server for all agents, under any name.
  static std::string identity_of(const McpEntry& entry) {
    if (!entry.url.empty()) return to_json_text(Json(entry.url));
    return to_json_text(JsonArray(entry.command.begin(), entry.command.end()));
  }

  McpToolOptions tool_options() const {
    McpToolOptions made;
    made.server = name_;
    made.only = texts("tools");
    made.idempotent = texts("idempotent");
    made.asks_before_samples = json_text(table_, "sampling") != "allow";
    if (const Millis time = duration_of(json_at(table_, "timeout")); time > Millis{0}) made.timeout = time;
    return made;
  }

  /// What a server offers is not known here, so nothing of it is allowed without a rule that names it.
  Status check_rule() const {
    const std::string prefix = mcp_prefix(name_);
    for (const char* list : {"policy.allow", "policy.ask"}) {
      for (const std::string& rule : texts_of(document_.at(list))) {
        if (rule.starts_with(prefix) || rule_names(rule, prefix)) return {};
      }
    }
    return mistake("needs a rule: name \"" + prefix +
                   "*\" or some of its tools in policy.ask, or in policy.allow");
  }

  /// The keys of this list make no sense for the kind of server.
  Status check_absent(std::initializer_list<const char*> keys, const std::string& kind) const {
    for (const char* key : keys) {
      if (!json_at(table_, key).is_null())
        return mistake_at(key, '"' + std::string(key) + "\" goes with \"" + kind + "\" only");
    }
    return {};
  }

  Result<McpProgram> program_of(McpEntry entry, const FileBounds& bounds,
                                const CheckGranted& check_granted) const {
    if (auto checked = check_absent(
            {"headers", "token_env", "client_id", "client_secret_env", "issuer", "client_metadata_url"},
            "url");
        !checked)
      return fail(std::move(checked.error()));
    return program_of_table({document_, options_, place_}, json_string(table_, "folder"),
                            std::move(entry.command), std::move(entry.environment),
                            {folder_, bounds, check_granted});
  }

  Result<McpEndpoint> endpoint_of(McpEntry entry) const {
    if (auto checked =
            check_absent({"folder", "read", "write", "environment", "allow", "max_memory_mb"}, "command");
        !checked)
      return fail(std::move(checked.error()));
    if (options_.http == nullptr) return mistake_at("url", "this program provides no network for agents");
    McpEndpoint endpoint;
    endpoint.url = std::move(entry.url);
    endpoint.http = options_.http;
    const auto url = parse_url(endpoint.url);
    if (!url) return mistake_at("url", url.error().message);
    const std::string host = url->ipv6 ? '[' + url->host + ']' : url->host;
    auto rules = HostRules::parse({host + ':' + std::to_string(url->port)});
    if (!rules) return mistake_at("url", rules.error().message);
    endpoint.allow_address = [url = *url, rules = *rules](std::string_view address) {
      return rules.allows_address(url, address);
    };
    auto token = variable_of("token_env");
    if (!token) return fail(std::move(token.error()));
    const std::string reference = entry.token.starts_with(kSecretReference) ? entry.token : "";
    endpoint.token = !token->empty() ? *std::move(token) : reference.empty() ? std::move(entry.token) : "";
    auto http = http_of_table({document_, options_, place_}, *rules, endpoint.token.empty() ? reference : "");
    if (!http) return fail(std::move(http.error()));
    auto access = access_of(endpoint, !endpoint.token.empty() || *http != options_.http);
    if (!access) return fail(std::move(access.error()));
    endpoint.access = *std::move(access);
    endpoint.http = *std::move(http);
    return endpoint;
  }

  /// The value of the environment variable that `key` names; empty without the key.
  Result<std::string> variable_of(const std::string& key) const {
    const std::string variable = json_string(table_, key);
    if (variable.empty()) return std::string();
    const char* value = std::getenv(variable.c_str());
    if (value != nullptr && *value != '\0') return std::string(value);
    const std::string held = key == "token_env" ? "token" : "secret";
    return mistake_at(
        key, "the environment variable \"" + variable + "\", which holds the " + held + ", is not set");
  }

  /// The login of the user at the server; null where a token or headers are set, or where nothing could be
  /// kept.
  Result<std::shared_ptr<McpAccess>> access_of(const McpEndpoint& endpoint, bool has_token) const {
    OauthIdentity identity{json_string(table_, "client_id"),
                           {},
                           json_string(table_, "issuer"),
                           json_string(table_, "client_metadata_url")};
    if (identity.id.empty() != identity.issuer.empty())
      return mistake("needs \"client_id\" together with \"issuer\", the server that knows it");
    auto secret = variable_of("client_secret_env");
    if (!secret) return fail(std::move(secret.error()));
    if (!secret->empty() && identity.id.empty())
      return mistake_at("client_secret_env", "\"client_secret_env\" goes with \"client_id\" only");
    identity.secret = *std::move(secret);
    if (!identity.address.empty() && !identity.address.starts_with("https://"))
      return mistake_at("client_metadata_url", "\"client_metadata_url\" must begin with https://");
    const std::string folder = state_folder();
    if (has_token || folder.empty()) return nullptr;
    const std::string command = "praxis mcp login " + shell_word(document_.name()) + ' ' + shell_word(name_);
    auto login = make_mcp_login(
        {endpoint.url, command, std::move(identity), endpoint.http, folder, endpoint.use_proxy});
    if (!login) return mistake(login.error().message);
    return login;
  }

  const TomlDocument& document_;
  const std::string name_;
  const std::string place_;
  const Json& table_;
  const fs::path folder_;
  const McpPlaces& places_;
  const AgentFileOptions& options_;
};

}  // namespace

Result<std::vector<McpServer>> mcp_servers_of(const TomlDocument& document, const McpPlaces& places,
                                              const FileBounds& bounds, const AgentFileOptions& options,
                                              const CheckGranted& check_granted) {
  std::vector<McpServer> servers;
  const auto* tables = document.at("tools.mcp").if_object();
  if (tables == nullptr) return servers;
  for (const auto& [name, table] : *tables) {
    auto server = McpTable(document, std::string(name), places, options).read(bounds, check_granted);
    if (!server) return fail(std::move(server.error()));
    if (options.on_mcp_server) options.on_mcp_server(*server);
    servers.push_back(*std::move(server));
  }
  return servers;
}

}  // namespace praxis::app
