// Base64 as RFC 4648 section 4 has it: the standard alphabet, padded, no white space.
#pragma once

#include <string>
#include <string_view>

#include "praxis/base/result.hpp"

namespace praxis {

std::string base64_encode(std::string_view bytes);
/// Strict: takes only what `base64_encode` writes. Error: `kInput`; it never quotes the text.
Result<std::string> base64_decode(std::string_view text);

}  // namespace praxis
