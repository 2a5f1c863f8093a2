#include "server/token_book.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace praxis::server {
namespace {

/// Changes whenever the file is replaced or written.
std::string stamp_of(const std::string& path) {
  struct stat about{};
  if (path.empty() || ::lstat(path.c_str(), &about) != 0) return "-";
  std::string stamp;
  for (const auto part :
       {static_cast<long long>(about.st_dev), static_cast<long long>(about.st_ino),
        static_cast<long long>(about.st_size), static_cast<long long>(about.st_mode),
        static_cast<long long>(about.st_mtim.tv_sec), static_cast<long long>(about.st_mtim.tv_nsec),
        static_cast<long long>(about.st_ctim.tv_sec), static_cast<long long>(about.st_ctim.tv_nsec)})
    stamp += std::to_string(part) + ' ';
  return stamp;
}

/// What a token of the token file may do: that of the owner everything, a named one what it could before
/// there were roles.
Principal with_rights(Principal principal, bool four_eyes) {
  const AccessRole* const role = find_role(built_in_roles(), principal.sees_all ? "admin" : "user");
  principal.role = role->name;
  principal.rights = role->rights;
  if (!principal.sees_all) principal.tenant = principal.name;
  principal.four_eyes = four_eyes;
  return principal;
}

}  // namespace

bool same_digest(const Digest& a, const Digest& b) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.bytes.size(); ++i)
    difference |= static_cast<unsigned>(a.bytes[i] ^ b.bytes[i]);
  return difference == 0;
}

TokenBook::TokenBook(std::vector<Token> fixed, AccessFiles files, std::shared_ptr<Environment> environment,
                     std::function<void(const std::string&)> warn, std::shared_ptr<OidcProvider> oidc)
    : fixed_(std::move(fixed)),
      files_(std::move(files)),
      environment_(std::move(environment)),
      warn_(std::move(warn)),
      oidc_(std::move(oidc)) {}

Result<TokenBook::SnapshotPtr> TokenBook::read() const {
  auto roles = app::read_roles(files_.roles);
  if (!roles) return fail(roles.error());
  Snapshot snapshot;
  const auto tokens = files_.state_folder.empty() ? Result<std::vector<app::AccessToken>>({})
                                                  : app::TokenStore(files_.state_folder).all();
  if (!tokens) return fail(tokens.error());
  for (const app::AccessToken& token : *tokens) {
    // A role that is not there any more has no rights.
    const AccessRole* const role = find_role(roles->all, token.role);
    const Rights rights = token.role.empty() ? token.rights : role != nullptr ? role->rights : Rights();
    Principal principal{.name = token.name,
                        .sees_all = token.tenant.empty(),
                        .tenant = token.tenant,
                        .role = token.role,
                        .rights = rights,
                        .agents = token.agents,
                        .token = token.id,
                        .four_eyes = roles->four_eyes};
    snapshot.tokens.push_back({token.digest, std::move(principal), token.expires, token.revoked});
  }
  snapshot.roles = *std::move(roles);
  return std::make_shared<const Snapshot>(std::move(snapshot));
}

Status TokenBook::load() {
  const std::lock_guard lock(mutex_);
  const std::string tokens = files_.state_folder.empty() ? "" : app::TokenStore(files_.state_folder).path();
  stamp_ = stamp_of(tokens) + stamp_of(files_.roles);
  auto read = this->read();
  if (!read) return fail(read.error());
  snapshot_ = *std::move(read);
  return {};
}

TokenBook::SnapshotPtr TokenBook::current() {
  const std::string tokens = files_.state_folder.empty() ? "" : app::TokenStore(files_.state_folder).path();
  std::string problem;
  SnapshotPtr snapshot;
  {
    const std::lock_guard lock(mutex_);
    // Taken before reading: a change in between is seen by the next call.
    std::string stamp = stamp_of(tokens) + stamp_of(files_.roles);
    if (stamp != stamp_) {
      stamp_ = std::move(stamp);
      auto read = this->read();
      if (!read) {
        problem = read.error().message;
      } else {
        snapshot_ = *std::move(read);
      }
    }
    snapshot = snapshot_;
  }
  if (!problem.empty() && warn_) warn_("tokens and roles stay as they were: " + problem);
  return snapshot;
}

Result<Principal> TokenBook::principal_of(std::string_view secret) {
  const Digest given = digest_of(secret);
  const SnapshotPtr now = current();
  const Token* fixed = nullptr;
  for (const Token& token : fixed_) {
    if (same_digest(token.digest, given)) fixed = &token;
  }
  const Stored* stored = nullptr;
  for (const Stored& token : now->tokens) {
    if (same_digest(token.digest, given)) stored = &token;
  }
  if (fixed != nullptr) return with_rights(fixed->principal, now->roles.four_eyes);
  if (stored == nullptr && oidc_ && secret.contains('.')) {
    auto claims = oidc_->claims_of(secret);
    return claims ? principal_by(*now, *std::move(claims)) : Result<Principal>(fail(claims.error()));
  }
  if (stored == nullptr) return fail(ErrorCode::kPolicy, "the token is not one of this server");
  if (stored->revoked.value != 0)
    return fail(ErrorCode::kPolicy, "the token was revoked on " + to_iso8601(stored->revoked));
  if (stored->expires.value != 0 && stored->expires <= environment_->now())
    return fail(ErrorCode::kPolicy, "the token expired on " + to_iso8601(stored->expires));
  return stored->principal;
}

Result<Principal> TokenBook::principal_by(const Snapshot& now, std::shared_ptr<const Json> claims) const {
  auto identity = now.roles.oidc.identify(*claims);
  if (!identity) return fail(identity.error());
  const AccessRole* const role = find_role(now.roles.all, identity->role);
  return Principal{.name = std::move(identity->principal),
                   .sees_all = identity->tenant.empty(),
                   .tenant = identity->tenant,
                   .role = identity->role,
                   .rights = role != nullptr ? role->rights : Rights(),
                   .agents = std::move(identity->agents),
                   .token = "oidc",
                   .four_eyes = now.roles.four_eyes,
                   .claims = std::move(claims)};
}

bool TokenBook::still_has(const Principal& principal, std::optional<Right> right) {
  const SnapshotPtr now = current();
  if (principal.claims) {
    const auto still = principal_by(*now, principal.claims);
    return still && still->tenant == principal.tenant && still->agents == principal.agents &&
           oidc_->check_time(*principal.claims) && (!right || still->rights.has(*right));
  }
  const auto found = std::ranges::find_if(
      now->tokens, [&](const Stored& each) { return each.principal.token == principal.token; });
  if (found == now->tokens.end() || found->revoked.value != 0) return false;
  const bool expired = found->expires.value != 0 && found->expires <= environment_->now();
  return !expired && (!right || found->principal.rights.has(*right));
}

}  // namespace praxis::server
