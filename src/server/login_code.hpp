// The code with which `praxis serve --open` signs in the browser that it opens. It stands in the fragment of
// an address, so it may be seen by others of this machine: it is good once, and for a short time.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "praxis/base/digest.hpp"
#include "praxis/base/time.hpp"

namespace praxis::server {

/// Thread-safe.
class LoginCode {
 public:
  LoginCode(std::string_view code, std::string token, UnixMillis expires)
      : digest_(digest_of(code)), token_(std::move(token)), expires_(expires) {}

  /// Returns the token for the right code, once. Returns nothing after `expires`, and after five wrong codes.
  std::optional<std::string> exchange(std::string_view code, UnixMillis now);

 private:
  std::mutex mutex_;
  const Digest digest_;
  std::string token_;  ///< empty once it was given or is lost
  const UnixMillis expires_;
  int attempts_left_ = 5;
};

}  // namespace praxis::server
