// Base64 of RFC 4648, section 4: the standard alphabet, padded, no white space.
#pragma once

#include <string>
#include <string_view>

#include "praxis/base/result.hpp"

#pragma GCC visibility push(default)
namespace praxis {

std::string base64_encode(std::string_view bytes);
/// Strict: accepts only what `base64_encode` writes. Error: `kInput`; its message never quotes `text`.
Result<std::string> base64_decode(std::string_view text);

}  // namespace praxis
#pragma GCC visibility pop
