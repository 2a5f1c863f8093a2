#include "app/mcp_login.hpp"

#include <algorithm>
#include <utility>

#include "praxis/base/environment.hpp"
#include "tools/host_rules.hpp"

namespace praxis::app {
namespace {

constexpr const char* kLoginsName = "mcp-logins.jsonl";
constexpr std::size_t kMostLoginBytes = std::size_t{4} * 1024 * 1024;

Json json_of_login(const OauthLogin& login) {
  return JsonObject{{"issuer", login.issuer},
                    {"resource", login.resource},
                    {"client_id", login.client.id},
                    {"client_secret", login.client.secret},
                    {"client_method", login.client.method},
                    {"access_token", login.tokens.access},
                    {"refresh_token", login.tokens.refresh},
                    {"granted", login.tokens.scope},
                    {"scope", login.scope}};
}

OauthLogin login_in(const Json& json) {
  return {json_string(json, "issuer"),
          json_string(json, "resource"),
          {json_string(json, "client_id"), json_string(json, "client_secret"),
           json_string(json, "client_method")},
          {json_string(json, "access_token"), json_string(json, "refresh_token"),
           json_string(json, "granted"), std::chrono::seconds{0}},
          json_string(json, "scope")};
}

Json json_of_entry(const McpLoginEntry& entry) {
  JsonObject json{{"server", entry.server}};
  if (entry.login) json["login"] = json_of_login(*entry.login);
  if (entry.expires.value != 0) json["expires"] = entry.expires.value;
  if (entry.wanted) {
    json["wanted"] = JsonObject{{"status", entry.wanted->status},
                                {"metadata", entry.wanted->metadata},
                                {"scope", entry.wanted->scope}};
    json["command"] = entry.command;
  }
  return json;
}

McpLoginEntry entry_in(const Json& json) {
  McpLoginEntry entry{json_string(json, "server"), std::nullopt, UnixMillis{json_int(json, "expires")}};
  if (const Json& login = json_at(json, "login"); login.is_object()) entry.login = login_in(login);
  const Json& wanted = json_at(json, "wanted");
  if (!wanted.is_object()) return entry;
  entry.wanted = OauthChallenge{static_cast<int>(json_int(wanted, "status")), json_string(wanted, "metadata"),
                                json_string(wanted, "scope")};
  entry.command = json_string(json, "command");
  return entry;
}

bool is_at(const Json& json, const std::string& server) { return json_string(json, "server") == server; }

/// The login of the user at one server.
class McpLogin final : public McpAccess {
 public:
  McpLogin(McpLoginOptions options, OauthReach reach)
      : options_(std::move(options)), logins_(options_.folder), reach_(std::move(reach)) {}

  std::string token() override {
    const auto entry = logins_.of(options_.server);  // `renew` reports what is wrong with the file
    return entry && entry->login ? entry->login->tokens.access : "";
  }

  Status renew(const std::string& refused, const OauthChallenge& challenge,
               const std::stop_token& stop) override {
    const std::lock_guard lock(mutex_);
    auto entry = logins_.of(options_.server);
    if (!entry) return fail(entry.error());
    if (!entry->login) return missing(*std::move(entry), challenge, "it wants a login");
    if (entry->login->tokens.access != refused) return {};  // which another call or process has renewed
    if (challenge.status == 403) return step_up(*std::move(entry), challenge);
    auto renewed = renew_login(reach_, request_of(challenge, *entry), *entry->login, stop);
    if (renewed) return keep(*std::move(renewed));
    if (renewed.error().kind() != ErrorKind::kAuthorisation) return fail(renewed.error());
    // Another process may have renewed the login at the same time, which ends the token that this one used.
    if (const auto now = logins_.of(options_.server);
        now && now->login && now->login->tokens.access != refused)
      return {};
    return missing(*std::move(entry), challenge, renewed.error().message);
  }

  Result<std::optional<OauthChallenge>> wanted() override {
    const auto entry = logins_.of(options_.server);
    if (!entry) return fail(entry.error());
    return entry->wanted;
  }

  Result<std::string> log_in(const OauthChallenge& challenge,
                             const std::function<void(const std::string& address)>& show,
                             const std::stop_token& stop) override {
    const std::lock_guard lock(mutex_);
    const auto entry = logins_.of(options_.server);
    if (!entry) return fail(entry.error());
    OauthRequest request = request_of(challenge, *entry);
    request.show = show;
    auto login = praxis::log_in(reach_, request, *environment_, stop);
    if (!login) return fail(login.error());
    std::string issuer = login->issuer;
    if (auto kept = keep(*std::move(login)); !kept) return fail(kept.error());
    return issuer;
  }

  Result<McpLogout> log_out(const std::stop_token& stop) override {
    const std::lock_guard lock(mutex_);
    const auto entry = logins_.of(options_.server);
    if (!entry) return fail(entry.error());
    McpLogout done{entry->login.has_value(), {}};
    if (done.had_login) {
      if (const auto ended = end_login(reach_, *entry->login, stop); !ended)
        done.still_valid = ended.error().message;
    }
    const auto removed = logins_.remove(options_.server);
    if (!removed) return fail(removed.error());
    return done;
  }

 private:
  OauthRequest request_of(const OauthChallenge& challenge, const McpLoginEntry& entry) const {
    return {options_.server, challenge, options_.identity, entry.login};
  }

  Status keep(OauthLogin login) const {
    McpLoginEntry entry{options_.server, std::move(login)};
    if (const Millis lifetime = entry.login->tokens.lifetime; lifetime > Millis{0})
      entry.expires = environment_->now() + lifetime;
    return logins_.keep(entry);
  }

  /// A scope that the login was to bring, and that is still not enough, is not asked for again and again.
  Status step_up(McpLoginEntry entry, const OauthChallenge& challenge) const {
    if (challenge.scope.empty() || has_scopes(entry.login->scope, challenge.scope))
      return fail(ErrorCode::kTool, ErrorKind::kFailed,
                  "the server refuses this request, although the login asked for what it names; the account "
                  "may not be allowed it");
    return missing(std::move(entry), challenge, "the login does not allow this request");
  }

  /// Keeps what a login has to bring, so that `praxis mcp login` and `praxis doctor` know it.
  Status missing(McpLoginEntry entry, const OauthChallenge& challenge, const std::string& why) const {
    if (!entry.wanted || entry.wanted->scope != challenge.scope || entry.command != options_.command) {
      entry.wanted = challenge;
      entry.command = options_.command;
      if (auto kept = logins_.keep(entry); !kept) return kept;
    }
    return fail(ErrorCode::kTool, ErrorKind::kAuthorisation, why + "; log in with: " + options_.command);
  }

  const McpLoginOptions options_;
  const McpLogins logins_;
  const OauthReach reach_;
  const std::shared_ptr<Environment> environment_ = system_environment();
  std::mutex mutex_;  ///< held while a login is made or renewed
};

/// Of the addresses of this machine and of private networks, those that were written out may be reached; on
/// this machine all ports, if the server is there.
std::function<AddressRule(const Url&)> login_rules(HostRules rules, bool is_local) {
  return [rules = std::move(rules), is_local](const Url& url) -> AddressRule {
    return [rules, url, is_here = is_local && is_loopback_host(url)](std::string_view address) {
      if (is_here) return address.starts_with("127.") || address == "::1";
      return rules.allows_address(url, address);
    };
  };
}

Result<std::string> host_and_port(const std::string& address) {
  const auto url = parse_url(address);
  if (!url) return fail(url.error());
  return (url->ipv6 ? '[' + url->host + ']' : url->host) + ':' + std::to_string(url->port);
}

}  // namespace

McpLogins::McpLogins(std::string folder) : lines_(std::move(folder), kLoginsName, kMostLoginBytes) {}

std::vector<std::string> McpLogins::files_in(const std::string& folder) {
  const std::string path = folder + '/' + kLoginsName;
  return {path, path + ".new"};
}

Result<std::vector<McpLoginEntry>> McpLogins::all() const {
  const auto lines = lines_.all();
  if (!lines) return fail(lines.error());
  std::vector<McpLoginEntry> entries;
  for (const Json& line : *lines) entries.push_back(entry_in(line));
  return entries;
}

Result<McpLoginEntry> McpLogins::of(const std::string& server) const {
  auto entries = all();
  if (!entries) return fail(entries.error());
  const auto found = std::ranges::find(*entries, server, &McpLoginEntry::server);
  return found == entries->end() ? McpLoginEntry{server, std::nullopt} : std::move(*found);
}

Status McpLogins::keep(const McpLoginEntry& entry) const {
  const auto kept = lines_.change([&](std::vector<Json>& lines) -> Result<bool> {
    std::erase_if(lines, [&](const Json& line) { return is_at(line, entry.server); });
    lines.push_back(json_of_entry(entry));
    return true;
  });
  return kept ? Status{} : fail(kept.error());
}

Result<bool> McpLogins::remove(const std::string& server) const {
  bool had_login = false;
  const auto removed = lines_.change([&](std::vector<Json>& lines) -> Result<bool> {
    return std::erase_if(lines, [&](const Json& line) {
             if (!is_at(line, server)) return false;
             had_login = json_at(line, "login").is_object();
             return true;
           }) > 0;
  });
  if (!removed) return fail(removed.error());
  return had_login;
}

Result<std::shared_ptr<McpAccess>> make_mcp_login(McpLoginOptions options) {
  const auto url = parse_url(options.server);
  if (!url) return fail(url.error());
  std::vector<std::string> hosts;
  for (const std::string& address : {options.server, options.identity.issuer}) {
    if (address.empty()) continue;
    auto host = host_and_port(address);
    if (!host) return fail(host.error());
    hosts.push_back(*std::move(host));
  }
  auto rules = HostRules::parse(hosts);
  if (!rules) return fail(rules.error());
  const bool is_local = is_loopback_host(*url);
  OauthReach reach{options.http, login_rules(*std::move(rules), is_local), is_local, options.use_proxy};
  return std::make_shared<McpLogin>(std::move(options), std::move(reach));
}

}  // namespace praxis::app
