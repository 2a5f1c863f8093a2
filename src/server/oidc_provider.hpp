// The identity provider whose tokens a server takes (OpenID Connect Discovery 1.0): finds its keys, keeps
// them within bounds, and checks tokens. It knows nothing of roles.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

#include "praxis/base/environment.hpp"
#include "praxis/net/http_client.hpp"
#include "server/oidc_keys.hpp"

namespace praxis::server {

struct OidcOptions {
  std::string issuer;    ///< as its tokens name it; empty: no provider
  std::string audience;  ///< what the tokens must be for
};

/// Thread-safe. Reads from the network, so call it on workers.
class OidcProvider {
 public:
  static constexpr std::chrono::minutes kRefresh{10};         ///< keys of this age are read again
  static constexpr std::chrono::minutes kOldest{60};          ///< older keys do not count
  static constexpr std::chrono::minutes kBetween{1};          ///< between two readings, as long as keys count
  static constexpr std::chrono::seconds kRetry{5};            ///< the same without keys that count
  static constexpr std::chrono::seconds kLeeway{30};          ///< by which clocks may differ
  static constexpr std::chrono::milliseconds kAnswer{5'000};  ///< for the answer to one request

  using Warn = std::function<void(const std::string&)>;
  /// `warn` gets, on any thread, why keys cannot be read; null: nothing. Error `kInput`: the issuer is not an
  /// https address (http: on this machine alone), or there is no audience.
  static Result<std::shared_ptr<OidcProvider>> open(OidcOptions options, std::shared_ptr<HttpClient> http,
                                                    std::shared_ptr<Environment> environment, Warn warn);
  OidcProvider(OidcOptions options, std::shared_ptr<HttpClient> http,
               std::shared_ptr<Environment> environment, Warn warn);

  /// The claims of a token of this provider, for this audience and the present time. Errors, which hold
  /// nothing of the token: `kPolicy` if it is not one; retriable if the keys are not known at present.
  Result<std::shared_ptr<const Json>> claims_of(std::string_view text);
  /// Whether claims that were checked before still stand.
  Status check_time(const Json& claims) const;
  /// Reads the keys if they are due.
  void refresh();
  /// Ends requests under way, and makes no others.
  void stop() { stop_.request_stop(); }

 private:
  using Keys = std::shared_ptr<const OidcKeys>;
  using Instant = std::chrono::nanoseconds;

  Status check(const WebToken& token) const;
  Result<OidcKeys::Verdict> judge(const WebToken& token);
  Keys current();
  bool read_again(Instant after);
  Result<Keys> read_keys();
  Result<Json> get(const std::string& address);
  void keep(Result<Keys> keys);

  const OidcOptions options_;
  const std::shared_ptr<HttpClient> http_;
  const std::shared_ptr<Environment> environment_;
  const Warn warn_;
  std::stop_source stop_;

  std::mutex mutex_;  // guards the next members; not held while reading
  Keys keys_;
  Instant read_at_{0}, tried_at_{0};
  bool tried_ = false, reading_ = false, warned_ = false;
};

}  // namespace praxis::server
