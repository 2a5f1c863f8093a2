#include "server/login_code.hpp"

#include <utility>

#include "server/access.hpp"

namespace praxis::server {

std::optional<std::string> LoginCode::exchange(std::string_view code, UnixMillis now) {
  const Digest given = digest_of(code);
  const std::lock_guard lock(mutex_);
  if (attempts_left_ == 0 || now >= expires_) token_.clear();
  if (token_.empty()) return std::nullopt;
  if (!same_digest(given, digest_)) {
    --attempts_left_;
    return std::nullopt;
  }
  return std::exchange(token_, std::string());
}

}  // namespace praxis::server
