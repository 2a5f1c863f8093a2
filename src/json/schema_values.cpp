#include "json/schema_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "json/schema_node.hpp"

namespace praxis {

namespace {

bool is_integer(const Json& number) { return std::trunc(real(number)) == real(number); }

}  // namespace

long double real(const Json& number) {
  switch (number.kind()) {
    case boost::json::kind::int64:
      return static_cast<long double>(number.get_int64());
    case boost::json::kind::uint64:
      return static_cast<long double>(number.get_uint64());
    default:
      return number.get_double();
  }
}

bool is_multiple(const Json& number, const Json& divisor) {
  if (is_integer(number) && is_integer(divisor)) return std::fmod(real(number), real(divisor)) == 0;
  // Decimal fractions have no exact binary form: 0.0075 must count as a multiple of 0.0001.
  const double quotient = number.to_number<double>() / divisor.to_number<double>();
  if (!std::isfinite(quotient)) return false;
  constexpr double kTolerance = 4 * std::numeric_limits<double>::epsilon();
  return std::abs(quotient - std::round(quotient)) <= kTolerance * std::abs(quotient);
}

std::size_t count_characters(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(utf8, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::size_t type_of(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return 0;
    case boost::json::kind::bool_:
      return 1;
    case boost::json::kind::string:
      return 4;
    case boost::json::kind::array:
      return 5;
    case boost::json::kind::object:
      return 6;
    default:
      return is_integer(value) ? 2 : 3;
  }
}

std::string describe(const Json& value) {
  if (value.is_number()) return "number " + to_json_text(value);
  if (value.is_bool()) return "boolean " + to_json_text(value);
  return std::string(kSchemaTypes[type_of(value)]);
}

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string counted(std::size_t count, std::string_view noun, std::string_view plural) {
  return std::to_string(count) + " " + std::string(count == 1 ? noun : plural);
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kLongest = 240;
  if (text.size() <= kLongest) return std::string(text);
  std::size_t end = kLongest;
  while ((text[end] & 0xC0) == 0x80) --end;  // not within a character
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace praxis
