// The tokens that `praxis tokens` makes for a server: for whom each one stands and what it may do. Only the
// digest of a token is kept, in a file that is its owner's alone.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "app/own_lines.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/base/time.hpp"
#include "praxis/domain/rights.hpp"

namespace praxis::app {

struct AccessToken {
  std::string id = {};    ///< `t` and eight hexadecimal digits; names the token in lists
  std::string name = {};  ///< the principal; several tokens may stand for one
  Digest digest = {};
  std::string role = {};                 ///< empty: `rights`
  Rights rights = {};                    ///< of a token without a role
  std::string tenant = {};               ///< whose runs alone it sees; empty: those of all
  std::vector<std::string> agents = {};  ///< the only ones that it may use; empty: all
  UnixMillis created = {};
  UnixMillis expires = {};  ///< zero: never
  UnixMillis revoked = {};  ///< zero: it is not
  std::string created_by = {}, revoked_by = {};
};
/// Without the digest.
JsonObject to_json(const AccessToken& token);

/// 256 random bits in hexadecimal digits.
std::string random_secret(Environment& environment);

/// Safe for concurrent use by processes. A token that was revoked stays in the file, so that the audit knows
/// it.
class TokenStore {
 public:
  /// `folder` is the user's state folder; it is created with the file.
  explicit TokenStore(const std::string& folder);

  std::string path() const { return lines_.path(); }
  /// Errors `kInput`: others could read or write the file, or it is not in this form.
  Result<std::vector<AccessToken>> all() const;
  /// Adds a token; id, digest and time are set here. Returns it with its secret, which is kept nowhere.
  /// Errors `kInput`: as `all`; there is no room.
  Result<std::pair<AccessToken, std::string>> add(AccessToken token, Environment& environment) const;
  /// Revokes the token of an id, or all tokens of a principal, and returns how many.
  Result<std::size_t> revoke(const std::string& id_or_name, UnixMillis now, const std::string& by) const;

 private:
  OwnLines lines_;
};

}  // namespace praxis::app
