// What the claims of a token of an identity provider mean here: `[oidc]` of `roles.toml`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/setting_key.hpp"
#include "praxis/domain/rights.hpp"

namespace praxis::app {

/// Gives a role to the tokens that it is about.
struct OidcRule {
  std::string role;
  std::string claim = {};                ///< empty: it is about every token
  std::vector<std::string> has = {};     ///< one of them is the claim, or is among its values
  std::string tenant = {};               ///< empty: the one of `OidcRules::tenant_claim`, or none
  std::vector<std::string> agents = {};  ///< the only ones that it may use; empty: all
};

/// Whom a token stands for, by these rules.
struct OidcIdentity {
  std::string principal, role, tenant;
  std::vector<std::string> agents;
};

struct OidcRules {
  std::string principal_claim = "sub";
  std::string tenant_claim = {};  ///< empty: no claim names a tenant
  std::vector<OidcRule> rules = {};

  /// By the first rule that is about the claims. Error `kPolicy` of the kind `no_role`: no rule fits, or a
  /// claim that these rules need is missing or names nothing.
  Result<OidcIdentity> identify(const Json& claims) const;
};

/// The keys of the table, without those of its rules.
std::span<const SettingKey> oidc_keys();
/// Reads the checked table. Error `kInput` with the place: a rule with an unknown key, a role that is not
/// among `roles`, or a claim without values.
Result<OidcRules> read_oidc(const TomlDocument& document, std::span<const AccessRole> roles);

}  // namespace praxis::app
