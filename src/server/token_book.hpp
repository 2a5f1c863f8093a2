// The tokens that a server takes: those that it started with, those of `praxis tokens`, which count, and
// cease to, without a restart, and those of an identity provider.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/roles.hpp"
#include "app/tokens.hpp"
#include "praxis/base/environment.hpp"
#include "server/call.hpp"
#include "server/oidc_provider.hpp"

namespace praxis::server {

/// A token and for whom it stands. Only its digest is kept.
struct Token {
  Digest digest;
  Principal principal;
};

/// Where the tokens and roles of `praxis tokens` are. Empty members: no tokens, no roles.
struct AccessFiles {
  std::string state_folder = {};  ///< with `tokens.jsonl`
  std::string roles = {};         ///< `roles.toml`
};

/// Thread-safe. Reads files, so call it on workers.
class TokenBook {
 public:
  /// `warn` gets, on any thread, why changed files are not used; null: nothing. Without a provider, its
  /// tokens are not taken.
  TokenBook(std::vector<Token> fixed, AccessFiles files, std::shared_ptr<Environment> environment,
            std::function<void(const std::string&)> warn, std::shared_ptr<OidcProvider> oidc = nullptr);

  /// Reads the files. Error `kInput`: one of them is not valid, or others could have changed it.
  Status load();
  /// For whom a token stands, with its rights at present. Error `kPolicy`: it is not a token of this server
  /// or its provider, it was revoked, it has expired, or (of the kind `no_role`) the rules give a token of
  /// the provider no role. Retriable: the provider cannot be asked.
  Result<Principal> principal_of(std::string_view secret);
  /// Whether the token of a principal, which is a stored one or one of the provider, still stands and has the
  /// right, if one is given.
  bool still_has(const Principal& principal, std::optional<Right> right);

 private:
  struct Stored {
    Digest digest;
    Principal principal;
    UnixMillis expires, revoked;
  };
  struct Snapshot {
    std::vector<Stored> tokens = {};
    app::Roles roles = {};
  };
  using SnapshotPtr = std::shared_ptr<const Snapshot>;

  Result<SnapshotPtr> read() const;
  SnapshotPtr current();
  Result<Principal> principal_by(const Snapshot& now, std::shared_ptr<const Json> claims) const;

  const std::vector<Token> fixed_;
  const AccessFiles files_;
  const std::shared_ptr<Environment> environment_;
  const std::function<void(const std::string&)> warn_;
  const std::shared_ptr<OidcProvider> oidc_;  // null: no provider

  std::mutex mutex_;  // guards the next members
  SnapshotPtr snapshot_ = std::make_shared<const Snapshot>();
  std::string stamp_;  ///< of the files when they were read
};

/// Compares in a time that does not depend on where the digests differ.
bool same_digest(const Digest& a, const Digest& b);

}  // namespace praxis::server
