#include "app/oidc_rules.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "app/roles.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kMostRules = 100, kMostValues = 1'000, kMostPrincipal = 255;

using Type = SettingKey::Type;
constexpr std::array kOidcKeys{
    SettingKey{"oidc", Type::kTable, "What the claims of tokens of --oidc mean"},
    SettingKey{
        "oidc.principal_claim", Type::kText, "The claim that names the principal", {}, 0, 0, {}, "sub"},
    SettingKey{"oidc.tenant_claim", Type::kText, "The claim that names the tenant"},
    SettingKey{"oidc.rules", Type::kTables, "Roles by claims; the first rule that fits decides"}};
constexpr std::array<SettingKey, 5> kRuleKeys{
    SettingKey{"role", Type::kText, "The role of these tokens"},
    SettingKey{"claim", Type::kText, "The claim that the rule looks at; without it, it is about all tokens"},
    SettingKey{"has", Type::kTexts, "One of these is the claim, or among its values"},
    SettingKey{"tenant", Type::kText, "The tenant of these tokens"},
    SettingKey{"agents", Type::kTexts, "The only agents that they may use"}};

std::unexpected<Error> no_role(const std::string& why) {
  return fail(make_error(ErrorCode::kPolicy, "the token is valid, but " + why + " ([oidc] in roles.toml)")
                  .set("kind", "no_role"));
}

/// A claim by its name; without such a claim, by the names of the tables that it is in, such as
/// `realm_access.roles`.
const Json& claim_at(const Json& claims, std::string_view name) {
  const Json* at = &json_at(claims, name);
  if (!at->is_null()) return *at;
  at = &claims;
  while (true) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    at = &json_at(*at, name.substr(0, dot));
    if (dot == name.size()) return *at;
    name.remove_prefix(dot + 1);
  }
}

/// Whether one of the words between blanks is the value: the form of the claim `scope` (RFC 9068).
bool has_word(std::string_view words, std::string_view value) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == value) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

bool is_about(const OidcRule& rule, const Json& claims) {
  if (rule.claim.empty()) return true;
  const Json& claim = claim_at(claims, rule.claim);
  const bool is_scope = rule.claim == "scope" || rule.claim == "scp";
  return std::ranges::any_of(rule.has, [&](const std::string& value) {
    if (claim.is_bool()) return value == (claim.get_bool() ? "true" : "false");
    if (const auto* const list = claim.if_array())
      return std::ranges::find(*list, Json(value)) != list->end();
    if (!claim.is_string()) return false;
    const std::string_view text(claim.get_string());
    return text == value || (is_scope && has_word(text, value));
  });
}

bool is_principal(std::string_view text) {
  return !text.empty() && text.size() <= kMostPrincipal &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

Result<OidcRule> rule_in(const TomlDocument& document, const std::string& path, const Json& table,
                         std::span<const AccessRole> roles) {
  if (!table.is_object()) return document.mistake(path, "a rule is a table");
  for (const auto& member : table.get_object()) {
    const std::string_view name = member.key();
    const auto key = std::ranges::find(kRuleKeys, name, &SettingKey::path);
    if (key == kRuleKeys.end())
      return document.mistake(path, "\"" + std::string(name) +
                                        "\" is no key of a rule; it has role, claim, has, tenant and agents");
    if (const std::string why = why_unfit(*key, member.value()); !why.empty())
      return document.mistake(path, "\"" + std::string(name) + "\" " + why);
    if (const auto* const list = member.value().if_array(); list != nullptr && list->empty())
      return document.mistake(
          path,
          "\"" + std::string(name) + "\" is empty and narrows nothing; give a value, or leave the key out");
  }
  OidcRule rule{json_string(table, "role"), json_string(table, "claim"), texts_of(json_at(table, "has")),
                json_string(table, "tenant"), texts_of(json_at(table, "agents"))};
  if (find_role(roles, rule.role) == nullptr) {
    std::vector<std::string> names;
    for (const AccessRole& each : roles) names.push_back(each.name);
    const auto nearest = closest(rule.role, names);
    return document.mistake(path, rule.role.empty()
                                      ? "a rule needs a role"
                                      : "there is no role \"" + rule.role + "\"" +
                                            (nearest ? "; did you mean \"" + *nearest + "\"?" : ""));
  }
  if (rule.claim.empty() != rule.has.empty() || rule.has.size() > kMostValues)
    return document.mistake(path, "a rule has both claim and has, with at most 1,000 values, or neither");
  if (!rule.tenant.empty() && !is_access_name(rule.tenant))
    return document.mistake(path, "a tenant has a name of 1 to 64 letters, digits, '.', '_', '-' and '@'");
  return rule;
}

}  // namespace

std::span<const SettingKey> oidc_keys() { return kOidcKeys; }

Result<OidcIdentity> OidcRules::identify(const Json& claims) const {
  const auto rule = std::ranges::find_if(rules, [&](const OidcRule& each) { return is_about(each, claims); });
  if (rule == rules.end()) return no_role("no rule gives it a role");
  const Json& named = claim_at(claims, principal_claim);
  const std::string_view name = named.is_string() ? std::string_view(named.get_string()) : "";
  if (!is_principal(name)) return no_role("its claim \"" + principal_claim + "\" names no principal");
  // Not the name of a principal of `praxis tokens`: others choose it, at the provider.
  OidcIdentity identity{"oidc:" + std::string(name), rule->role, rule->tenant, rule->agents};
  if (!identity.tenant.empty() || tenant_claim.empty()) return identity;
  const Json& tenant = claim_at(claims, tenant_claim);
  if (tenant.is_string()) identity.tenant = tenant.get_string();
  if (!is_access_name(identity.tenant)) return no_role("its claim \"" + tenant_claim + "\" names no tenant");
  return identity;
}

Result<OidcRules> read_oidc(const TomlDocument& document, std::span<const AccessRole> roles) {
  const Json& table = document.at("oidc");
  OidcRules read;
  read.principal_claim = json_string(table, "principal_claim", "sub");
  read.tenant_claim = json_string(table, "tenant_claim");
  const auto* const listed = json_at(table, "rules").if_array();
  if (listed == nullptr) return read;
  if (listed->size() > kMostRules) return document.mistake("oidc.rules", "there may be 100 rules at most");
  for (std::size_t i = 0; i < listed->size(); ++i) {
    auto rule = rule_in(document, "oidc.rules[" + std::to_string(i) + "]", listed->at(i), roles);
    if (!rule) return fail(rule.error());
    read.rules.push_back(*std::move(rule));
  }
  return read;
}

}  // namespace praxis::app
