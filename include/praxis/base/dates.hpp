// Parses points in time in the forms that other programs write.
#pragma once

#include <optional>
#include <string_view>

#include "praxis/base/time.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Parses `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, the preferred form). `std::nullopt` for any other form.
std::optional<UnixMillis> from_http_date(std::string_view text);
/// Parses `2026-01-31T12:00:00Z`, also with a fraction of a second or an offset (RFC 3339). `std::nullopt`
/// for any other form.
std::optional<UnixMillis> from_iso8601(std::string_view text);

}  // namespace praxis
#pragma GCC visibility pop
