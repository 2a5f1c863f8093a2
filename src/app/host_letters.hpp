// Hosts whose names are written in punycode: `xn--pple-43d.com` is what a browser may show as "apple.com"
// with a Cyrillic letter.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace praxis::app {

/// Decodes one label without its `xn--` (RFC 3492); `std::nullopt` if it is not valid.
std::optional<std::string> decode_punycode(std::string_view label);

/// A line for each host in `text` that has a label in punycode: the host as written, and its letters as
/// `exact` shows them. At most eight lines; the last one says when there are more.
std::vector<std::string> hosts_in_letters(std::string_view text);

}  // namespace praxis::app
