// Texts of OAuth: forms, random values and the challenge of PKCE (RFC 7636).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/base/environment.hpp"
#include "praxis/base/result.hpp"

namespace praxis {

using FormFields = std::vector<std::pair<std::string, std::string>>;

/// The fields with a value, as `application/x-www-form-urlencoded`.
std::string form_of(const FormFields& fields);
/// The fields of a form or a query. Error `kInput`: a field is there twice, which two readers could take
/// differently.
Result<std::map<std::string, std::string>> read_form(std::string_view text);
/// 256 random bits in 43 characters.
std::string oauth_random(Environment& environment);
/// The challenge of a code verifier, by the method S256.
std::string pkce_challenge(std::string_view verifier);
/// The words of both lists of scopes, each once, in order.
std::string joined_scopes(std::string_view first, std::string_view second);
/// Whether each word of `asked` is in `granted`.
bool has_scopes(std::string_view granted, std::string_view asked);

}  // namespace praxis
