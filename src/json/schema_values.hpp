// What a schema can ask about a single value, and how messages speak of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "praxis/json/json.hpp"

namespace praxis {

/// The number; exact wherever long double has 64 bits of mantissa or more.
long double real(const Json& number);
/// Whether `number` is a multiple of `divisor`, allowing for decimal fractions that binary cannot hold.
bool is_multiple(const Json& number, const Json& divisor);
/// Unicode characters in valid UTF-8.
std::size_t count_characters(std::string_view utf8);
/// Position in `kSchemaTypes`; a number without a fraction is an integer.
std::size_t type_of(const Json& value);

/// The type, and the value where it is short and cannot be secret: `number 5`, `string`.
std::string describe(const Json& value);
/// As a JSON string.
std::string quoted(std::string_view text);
/// `1 item`, `2 items`.
std::string counted(std::size_t count, std::string_view noun, std::string_view plural);
/// The front of a text that may be long, with dots for the rest.
std::string shortened(std::string_view text);

}  // namespace praxis
