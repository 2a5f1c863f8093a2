// Parses and writes JSON. Boost.JSON holds the values; the writer is our own because Boost prints 1.0 as
// `1E0` and passes invalid UTF-8 through, and because hashing needs one canonical form.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "praxis/base/result.hpp"
#include "praxis/base/utf8.hpp"

#pragma GCC visibility push(default)
namespace praxis {

using JsonObject = boost::json::object;
using JsonArray = boost::json::array;

/// Bounds on untrusted JSON text.
struct JsonLimits {
  std::size_t max_depth = 64;                ///< nested arrays and objects
  std::size_t max_bytes = 64 * 1024 * 1024;  ///< length of the text
};

/// Parses exactly one JSON value (RFC 8259; trailing white space allowed). Error: `kInput` with line and
/// column.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

/// Compact text in insertion order; numbers in shortest round-trip form; invalid UTF-8 becomes U+FFFD.
std::string to_json_text(const Json& value);
/// Returns the contents of a string, without quotes; any other value as `to_json_text`.
std::string to_plain_text(const Json& value);
/// As `to_json_text`, appended to `out`.
void append_json(std::string& out, const Json& value);
/// Appends `text` as a quoted, escaped JSON string; invalid UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);

/// Canonical text for hashing: object keys sorted by UTF-16 code units as in RFC 8785.
std::string to_canonical_json(const Json& value);

/// Completes a truncated JSON text (closes open strings, arrays and objects, drops a dangling key), so that
/// partially received tool arguments can be shown. `std::nullopt` if `prefix` is not the start of a JSON
/// value.
std::optional<Json> parse_partial_json(std::string_view prefix);

/// Field access that never throws: returns null if `value` is not an object or lacks the key. The reference
/// is valid as long as `value`.
const Json& json_at(const Json& value, std::string_view key);
/// The string at `key`, without a copy; empty if absent or not a string. Valid as long as `value`.
std::string_view json_text(const Json& value, std::string_view key);
std::string_view json_text(Json&& value, std::string_view key) = delete;
/// The string, number or boolean at `key`, or `fallback` if absent or of another type.
std::string json_string(const Json& value, std::string_view key, std::string_view fallback = {});
std::int64_t json_int(const Json& value, std::string_view key, std::int64_t fallback = 0);
double json_double(const Json& value, std::string_view key, double fallback = 0);
bool json_bool(const Json& value, std::string_view key, bool fallback = false);

/// JSON form `{code, message, retriable, detail?, cause?}` and back; unknown fields are ignored.
Json to_json(const Error& error);
Error error_from_json(const Json& json);

}  // namespace praxis
#pragma GCC visibility pop
