#include "json/web_token.hpp"

#include <utility>

#include "base/base64url.hpp"
#include "json/repeated_key.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMostTokenDepth = 16;

Result<Json> token_object(std::string_view part, const char* name) {
  const auto text = base64url_decode(part);
  auto json = text ? parse_json(*text, {.max_depth = kMostTokenDepth, .max_bytes = kMostWebToken})
                   : Result<Json>(fail(text.error()));
  if (!json || !json->is_object())
    return fail(ErrorCode::kInput, std::string("the ") + name + " of the token is no JSON object");
  if (repeated_key(*text, *json))
    return fail(ErrorCode::kInput, std::string("the ") + name + " of the token has a key twice");
  return json;
}

}  // namespace

Result<WebToken> read_web_token(std::string_view text) {
  if (text.size() > kMostWebToken) return fail(ErrorCode::kInput, "the token has more than 16 KiB");
  const std::size_t first = text.find('.'), last = text.rfind('.');
  if (first == text.npos || first == last || text.find('.', first + 1) != last)
    return fail(ErrorCode::kInput, "the token does not have three parts");
  auto header = token_object(text.substr(0, first), "header");
  if (!header) return fail(header.error());
  auto claims = token_object(text.substr(first + 1, last - first - 1), "body");
  if (!claims) return fail(claims.error());
  auto signature = base64url_decode(text.substr(last + 1));
  if (!signature) return fail(ErrorCode::kInput, "the signature of the token cannot be read");
  return WebToken{std::string(text.substr(0, last)), *std::move(header), *std::move(claims),
                  *std::move(signature)};
}

}  // namespace praxis
