// References between URIs as RFC 3986 section 5 resolves them: what `$id` and `$ref` need, and no more.
#pragma once

#include <string>
#include <string_view>

namespace praxis {

/// `reference` made absolute with `base`; both may be relative, both may carry a fragment (the base's is
/// dropped).
std::string resolve_uri(std::string_view base, std::string_view reference);

/// Replaces %XX by its byte; what is no such escape stays.
std::string percent_decode(std::string_view text);

}  // namespace praxis
