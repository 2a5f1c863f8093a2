// Resolves URI references (RFC 3986, section 5) as far as `$id` and `$ref` need it.
#pragma once

#include <string>
#include <string_view>

namespace praxis {

/// Returns `reference` resolved against `base`. Both may be relative and may have a fragment; the base's is
/// dropped.
std::string resolve_uri(std::string_view base, std::string_view reference);

/// Writes each byte as %XX but letters, digits, `-._~` (RFC 3986, section 2.3) and those of `kept`.
std::string percent_encode(std::string_view text, std::string_view kept = {});
/// Replaces each %XX by its byte; leaves incomplete escapes unchanged.
std::string percent_decode(std::string_view text);

}  // namespace praxis
