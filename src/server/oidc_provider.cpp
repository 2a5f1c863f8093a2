#include "server/oidc_provider.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "app/hints.hpp"
#include "base/ascii.hpp"
#include "mcp/oauth_metadata.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kMostDocument = std::size_t{256} * 1024, kMostDocumentDepth = 16;
constexpr std::size_t kMostAudiences = 100;

std::unexpected<Error> no_token(std::string why) { return fail(ErrorCode::kPolicy, std::move(why)); }

std::unexpected<Error> away(const std::string& why) {
  return fail(ErrorCode::kModel, ErrorKind::kNetwork, why, true);
}

/// Over TLS only, except on this machine.
bool is_safe(const Url& url) { return url.scheme == "https" || is_loopback_host(url); }

/// A time of RFC 7519 in seconds; nothing: it is missing or no number.
std::optional<double> seconds_at(const Json& claims, std::string_view name) {
  const Json& value = json_at(claims, name);
  if (!value.is_number()) return std::nullopt;
  const double seconds = json_double(claims, name);
  return std::isfinite(seconds) ? std::optional(seconds) : std::nullopt;
}

bool is_for(const Json& claims, const std::string& audience) {
  const Json& named = json_at(claims, "aud");
  if (named.is_string()) return json_text(claims, "aud") == audience;
  const auto* const all = named.if_array();
  return all != nullptr && all->size() <= kMostAudiences &&
         std::ranges::find(*all, Json(audience)) != all->end();
}

/// Tokens of other purposes should name another type (RFC 8725, section 3.11), but ID tokens, and the logout
/// tokens of many providers, name `JWT` or none.
bool is_fitting_type(const Json& header) {
  if (json_at(header, "typ").is_null()) return true;
  std::string type = lower_case(json_text(header, "typ"));
  if (type.starts_with("application/")) type.erase(0, std::string_view("application/").size());
  return type == "jwt" || type == "at+jwt";
}

/// Whether it has a claim of ID tokens (`nonce`) or of logout and event tokens (`events`). An ID token may
/// lack `nonce`: then the audience alone, which is a client there, keeps it out.
bool has_other_purpose(const Json& claims) {
  return !json_at(claims, "nonce").is_null() || !json_at(claims, "events").is_null();
}

}  // namespace

Result<std::shared_ptr<OidcProvider>> OidcProvider::open(OidcOptions options,
                                                         std::shared_ptr<HttpClient> http,
                                                         std::shared_ptr<Environment> environment,
                                                         Warn warn) {
  const auto url = parse_url(options.issuer);
  if (!url || !is_safe(*url) || options.issuer.find_first_of("?#") != std::string::npos) {
    return fail(app::usage_error("--oidc needs the address of the identity provider",
                                 "give it as its tokens name it, such as https://login.example.org; http is "
                                 "for a provider on this machine"));
  }
  if (options.audience.empty())
    return fail(app::usage_error("--oidc needs the audience that tokens must be for",
                                 "give --oidc-audience, such as the identifier of this API at the provider"));
  return std::make_shared<OidcProvider>(std::move(options), std::move(http), std::move(environment),
                                        std::move(warn));
}

OidcProvider::OidcProvider(OidcOptions options, std::shared_ptr<HttpClient> http,
                           std::shared_ptr<Environment> environment, Warn warn)
    : options_(std::move(options)),
      http_(std::move(http)),
      environment_(std::move(environment)),
      warn_(std::move(warn)) {}

Status OidcProvider::check_time(const Json& claims) const {
  constexpr double kMillis = 1000;
  const double now = static_cast<double>(environment_->now().value) / kMillis;
  const auto leeway = static_cast<double>(kLeeway.count());
  const auto expires = seconds_at(claims, "exp");
  if (!expires) return no_token("the token does not say when it expires");
  if (now >= *expires + leeway) return no_token("the token has expired");
  if (json_at(claims, "nbf").is_null()) return {};
  const auto begins = seconds_at(claims, "nbf");
  if (!begins || *begins > now + leeway) return no_token("the token is not valid yet");
  return {};
}

Status OidcProvider::check(const WebToken& token) const {
  if (!OidcKeys::knows(json_text(token.header, "alg")))
    return no_token("the token is signed in a way that is not taken; RS256, ES256 and EdDSA are");
  if (!json_at(token.header, "crit").is_null())
    return no_token("the token has an extension that this server does not know");
  if (!is_fitting_type(token.header) || has_other_purpose(token.claims))
    return no_token("the token has another purpose than access");
  if (json_text(token.claims, "iss") != options_.issuer)
    return no_token("the token is of another issuer than --oidc names");
  if (!is_for(token.claims, options_.audience))
    return no_token("the token is for another audience than --oidc-audience names");
  return check_time(token.claims);
}

Result<std::shared_ptr<const Json>> OidcProvider::claims_of(std::string_view text) {
  auto token = read_web_token(text);
  if (!token) return no_token(token.error().message);
  if (auto checked = check(*token); !checked) return fail(checked.error());
  const auto verdict = judge(*token);
  if (!verdict) return fail(verdict.error());
  if (*verdict == OidcKeys::Verdict::kUnknownKey)
    return no_token("the token is signed with a key that is not known to be of the identity provider");
  if (*verdict != OidcKeys::Verdict::kSigned) return no_token("the signature of the token is wrong");
  return std::make_shared<const Json>(std::move(token->claims));
}

/// By the keys of now; by those that are read then, if the token may be signed with a newer one.
Result<OidcKeys::Verdict> OidcProvider::judge(const WebToken& token) {
  constexpr const char* kUnknown = "the keys of the identity provider are not known at present; try again";
  Keys keys = current();
  if (!keys) {
    read_again(kRetry);
    keys = current();  // also if another thread has read them meanwhile
  }
  if (!keys) return away(kUnknown);
  const OidcKeys::Verdict verdict = keys->judge(token);
  if (verdict != OidcKeys::Verdict::kUnknownKey) return verdict;
  const bool is_being_read = read_again(kBetween);
  const Keys newest = current();  // another thread may have read them since `keys`
  if (newest && newest != keys) return newest->judge(token);
  if (is_being_read || !newest) return away(kUnknown);
  return verdict;
}

OidcProvider::Keys OidcProvider::current() {
  const std::lock_guard lock(mutex_);
  return environment_->monotonic() - read_at_ < kOldest ? keys_ : nullptr;
}

void OidcProvider::refresh() {
  const Instant now = environment_->monotonic();
  bool has_keys = false;
  {
    const std::lock_guard lock(mutex_);
    if (keys_ && now - read_at_ < kRefresh) return;
    has_keys = keys_ && now - read_at_ < kOldest;
  }
  read_again(has_keys ? Instant(kBetween) : Instant(kRetry));
}

/// Reads the keys unless another thread does, or the last attempt was less than `after` ago. Returns whether
/// another thread does. One worker alone waits for the provider: the requests of the others that need its
/// answer are refused meanwhile.
bool OidcProvider::read_again(Instant after) {
  const Instant now = environment_->monotonic();
  {
    const std::lock_guard lock(mutex_);
    if (reading_) return true;
    if (tried_ && now - tried_at_ < after) return false;
    reading_ = tried_ = true;
    tried_at_ = now;
  }
  keep(read_keys());
  return false;
}

void OidcProvider::keep(Result<Keys> keys) {
  std::string problem;
  {
    const std::lock_guard lock(mutex_);
    reading_ = false;
    if (keys) {
      keys_ = *std::move(keys);
      read_at_ = environment_->monotonic();
      warned_ = false;
    } else if (!std::exchange(warned_, true)) {
      problem = keys.error().message;
    }
  }
  if (!problem.empty() && warn_ && !stop_.stop_requested())
    warn_("the keys of the identity provider cannot be read; known ones count for an hour: " + problem);
}

Result<Json> OidcProvider::get(const std::string& address) {
  const auto url = parse_url(address), issuer = parse_url(options_.issuer);
  if (!url || !issuer || !is_safe(*url) || (is_loopback_host(*url) && !is_loopback_host(*issuer)))
    return fail(ErrorCode::kInput, "the provider names an address that is not https");
  HttpRequest request;
  request.url = address;
  request.headers.emplace_back("Accept", "application/json");
  request.timeouts.connect = request.timeouts.total = kAnswer;
  request.max_body_bytes = kMostDocument;
  request.use_proxy = !is_loopback_host(*url);
  // The user named the issuer; what its document names beyond that must not lead into the own network.
  if (url->host != issuer->host)
    request.allow_address = [](std::string_view each) { return !is_non_public_address(each); };
  const auto response = http_fetch(*http_, std::move(request), stop_.get_token());
  const std::string where = origin_of(*url) + ": ";
  if (!response) return fail(ErrorCode::kInput, where + response.error().message);
  if (response->status != 200)
    return fail(ErrorCode::kInput, where + "HTTP " + std::to_string(response->status));
  auto json = parse_json(response->body, {.max_depth = kMostDocumentDepth, .max_bytes = kMostDocument});
  if (!json || !json->is_object()) return fail(ErrorCode::kInput, where + "the answer is no JSON object");
  return json;
}

Result<OidcProvider::Keys> OidcProvider::read_keys() {
  std::string root = options_.issuer;
  while (root.ends_with('/')) root.pop_back();
  const auto document = get(root + "/.well-known/openid-configuration");
  if (!document) return fail(document.error());
  if (json_text(*document, "issuer") != options_.issuer)
    return fail(ErrorCode::kInput, "the provider at --oidc names itself otherwise; give its own name");
  const auto set = get(json_string(*document, "jwks_uri"));
  if (!set) return fail(set.error());
  auto keys = OidcKeys::read(*set);
  if (!keys) return fail(keys.error());
  return std::make_shared<const OidcKeys>(*std::move(keys));
}

}  // namespace praxis::server
