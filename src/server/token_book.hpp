// The tokens that a server takes: those that it started with, and those of `praxis tokens`, which count, and
// cease to, without a restart.
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
  /// `warn` gets, on any thread, why changed files are not used; null: nothing.
  TokenBook(std::vector<Token> fixed, AccessFiles files, std::shared_ptr<Environment> environment,
            std::function<void(const std::string&)> warn);

  /// Reads the files. Error `kInput`: one of them is not valid, or others could have changed it.
  Status load();
  /// For whom a token stands, with its rights at present. Error `kPolicy`: it is not a token of this server,
  /// it was revoked, or it has expired.
  Result<Principal> principal_of(std::string_view secret);
  /// Whether the stored token of this id still stands and has the right, if one is given.
  bool still_has(const std::string& token, std::optional<Right> right);

 private:
  struct Stored {
    Digest digest;
    Principal principal;
    UnixMillis expires, revoked;
  };
  struct Snapshot {
    std::vector<Stored> tokens = {};
    bool four_eyes = false;
  };
  using SnapshotPtr = std::shared_ptr<const Snapshot>;

  Result<SnapshotPtr> read() const;
  SnapshotPtr current();

  const std::vector<Token> fixed_;
  const AccessFiles files_;
  const std::shared_ptr<Environment> environment_;
  const std::function<void(const std::string&)> warn_;

  std::mutex mutex_;  // guards the next members
  SnapshotPtr snapshot_ = std::make_shared<const Snapshot>();
  std::string stamp_;  ///< of the files when they were read
};

/// Compares in a time that does not depend on where the digests differ.
bool same_digest(const Digest& a, const Digest& b);

}  // namespace praxis::server
