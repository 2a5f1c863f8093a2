// The roles that tokens of a server can have: those that are built in, and those of the user's `roles.toml`,
// which also says what roles the tokens of an identity provider have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/oidc_rules.hpp"
#include "praxis/base/result.hpp"
#include "praxis/domain/rights.hpp"

namespace praxis::app {

struct Roles {
  std::vector<AccessRole> all = {};  ///< the built-in ones first
  /// Whether a principal that started a run must leave the decisions about its steps to others.
  bool four_eyes = false;
  OidcRules oidc = {};
};

/// `roles.toml` in the user's folder of configuration; empty: there is no such folder.
std::string roles_file();
/// Reads roles from the text of a file. Error `kInput` with the place: an unknown key or right, a role
/// without rights, or one with the name of a built-in role; errors of `read_oidc`.
Result<Roles> parse_roles(std::string_view text, const std::string& name);
/// Reads a file that is the user's alone; a missing one has the built-in roles. Errors as `parse_roles` and
/// `read_private_file`.
Result<Roles> read_roles(const std::string& path);
/// Whether a text can name a role, a principal or a tenant: 1 to 64 letters, digits, `.`, `_`, `-`, `@`.
bool is_access_name(std::string_view name);
/// Error `kInput`: `name` is not a right; names the nearest one.
Result<Right> read_right(std::string_view name);

}  // namespace praxis::app
