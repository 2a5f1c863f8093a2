// Properties of a single value that schema keywords check, and how messages describe a value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "praxis/json/json.hpp"

namespace praxis {

/// Returns the number; exact where long double has 64 bits of mantissa or more.
long double real(const Json& number);
/// Whether `number` is a multiple of `divisor`, tolerating decimal fractions without an exact binary form.
bool is_multiple(const Json& number, const Json& divisor);
/// The number of Unicode characters in valid UTF-8.
std::size_t count_characters(std::string_view utf8);
/// Position in `kSchemaTypes`; a number without a fraction is an integer.
std::size_t type_of(const Json& value);

/// The type, and the value if it is short and cannot be secret: `number 5`, `string`.
std::string describe(const Json& value);
/// Returns `text` as a JSON string.
std::string quoted(std::string_view text);
/// `1 item`, `2 items`.
std::string counted(std::size_t count, std::string_view noun, std::string_view plural);
/// Returns the front of a long text, followed by dots.
std::string shortened(std::string_view text);

}  // namespace praxis
