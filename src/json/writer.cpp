#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/utf8.hpp"
#include "json/fields.hpp"
#include "praxis/json/json.hpp"

namespace praxis {

namespace {

template <class Integer>
void append_integer(std::string& out, Integer value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
}

// Writes the shortest digits that read back as the same number, laid out as in ECMAScript (and so RFC 8785).
void append_double(std::string& out, double value) {
  if (!std::isfinite(value)) {  // JSON cannot express such a number
    out += "null";
    return;
  }
  if (value == 0) {
    out += '0';
    return;
  }
  if (value < 0) out += '-';
  char buffer[32];
  const char* const end =
      std::to_chars(buffer, std::end(buffer), std::abs(value), std::chars_format::scientific).ptr;
  const std::string_view mantissa(buffer, std::find(static_cast<const char*>(buffer), end, 'e'));
  const std::string_view fraction = mantissa.substr(std::min<std::size_t>(2, mantissa.size()));
  const char* const power = mantissa.data() + mantissa.size() + 1;
  int exponent = 0;
  std::from_chars(*power == '+' ? power + 1 : power, end, exponent);

  if (exponent < -6 || exponent > 20) {
    out += mantissa;
    out += exponent < 0 ? "e" : "e+";
    append_integer(out, exponent);
  } else if (exponent < 0) {
    out.append("0.").append(static_cast<std::size_t>(-exponent - 1), '0');
    out.append(1, mantissa[0]).append(fraction);
  } else {
    const auto whole = std::min(static_cast<std::size_t>(exponent), fraction.size());
    out.append(1, mantissa[0]).append(fraction.substr(0, whole));
    out.append(static_cast<std::size_t>(exponent) - whole, '0');
    if (whole < fraction.size()) out.append(1, '.').append(fraction.substr(whole));
  }
}

// The bytes that a string may hold unchanged.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  std::fill(plain.begin() + 0x20, plain.begin() + 0x80, true);
  plain['"'] = plain['\\'] = false;
  return plain;
}();

bool is_plain(char c) { return kPlain[static_cast<unsigned char>(c)]; }

// Whether any of eight bytes is a control character, a quote, a back-slash or not ASCII.
bool has_special(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kHigh = 0x8080808080808080;
  const auto has_zero = [](std::uint64_t w) { return (w - kOnes) & ~w; };
  const std::uint64_t control = (word - kOnes * 0x20) & ~word;
  return ((word | control | has_zero(word ^ kOnes * '"') | has_zero(word ^ kOnes * '\\')) & kHigh) != 0;
}

std::uint64_t eight_bytes(const char* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Returns the position of the first character at or after `at` that must not be copied unchanged.
std::size_t skip_plain(std::string_view text, std::size_t at) {
  for (; at + 8 <= text.size(); at += 8) {
    if (has_special(eight_bytes(text.data() + at))) break;
  }
  while (at < text.size() && is_plain(text[at])) ++at;
  return at;
}

void append_escape(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      constexpr std::string_view kDigits = "0123456789abcdef";
      out += "\\u00";
      out += kDigits[static_cast<unsigned char>(c) >> 4];
      out += kDigits[c & 15];
  }
}

// Compares UTF-8 by UTF-16 code units. This differs from byte order only in that characters beyond U+FFFF
// (lead bytes F0 to F4) come before U+E000 to U+FFFF (lead bytes EE and EF).
bool utf16_less(std::string_view a, std::string_view b) {
  const auto [x, y] = std::ranges::mismatch(a, b);
  if (x == a.end() || y == b.end()) return x == a.end() && y != b.end();
  const auto rank = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte;
  };
  return rank(*x) < rank(*y);
}

enum class KeyOrder { kInsertion, kSorted };

void append_value(std::string& out, const Json& value, KeyOrder order);

void append_field(std::string& out, const JsonObject::value_type& field, KeyOrder order) {
  append_json_string(out, field.key());
  out += ':';
  append_value(out, field.value(), order);
  out += ',';
}

void append_object(std::string& out, const JsonObject& object, KeyOrder order) {
  out += '{';
  if (order == KeyOrder::kInsertion) {
    for (const auto& field : object) append_field(out, field, order);
  } else {
    std::vector<const JsonObject::value_type*> fields;
    fields.reserve(object.size());
    for (const auto& field : object) fields.push_back(&field);
    std::ranges::sort(fields, [](const auto* a, const auto* b) { return utf16_less(a->key(), b->key()); });
    for (const auto* field : fields) append_field(out, *field, order);
  }
  if (!object.empty()) out.pop_back();  // the last comma
  out += '}';
}

void append_array(std::string& out, const JsonArray& array, KeyOrder order) {
  out += '[';
  for (const Json& element : array) {
    append_value(out, element, order);
    out += ',';
  }
  if (!array.empty()) out.pop_back();  // the last comma
  out += ']';
}

void append_value(std::string& out, const Json& value, KeyOrder order) {
  switch (value.kind()) {
    case boost::json::kind::null:
      out += "null";
      break;
    case boost::json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      break;
    case boost::json::kind::int64:
      append_integer(out, value.get_int64());
      break;
    case boost::json::kind::uint64:
      append_integer(out, value.get_uint64());
      break;
    case boost::json::kind::double_:
      append_double(out, value.get_double());
      break;
    case boost::json::kind::string:
      append_json_string(out, value.get_string());
      break;
    case boost::json::kind::array:
      append_array(out, value.get_array(), order);
      break;
    case boost::json::kind::object:
      append_object(out, value.get_object(), order);
      break;
  }
}

}  // namespace

bool needs_escape(std::string_view text) {
  if (text.size() < 8) return !std::ranges::all_of(text, is_plain);
  const char* const last = text.data() + text.size() - 8;
  for (const char* at = text.data(); at < last; at += 8) {
    if (has_special(eight_bytes(at))) return true;
  }
  return has_special(eight_bytes(last));
}

void append_json_string(std::string& out, std::string_view text) {
  if (!needs_escape(text)) {
    const std::size_t before = out.size(), after = before + text.size() + 2;
    // libstdc++ 12 passes the capacity here, not the requested size.
    out.resize_and_overwrite(after, [&](char* all, std::size_t) {
      all[before] = all[after - 1] = '"';
      text.copy(all + before + 1, text.size());
      return after;
    });
    return;
  }
  out += '"';
  for (std::size_t from = 0; from < text.size();) {
    // Everything up to `at` is copied unchanged: plain characters and well-formed sequences.
    std::size_t at = skip_plain(text, from);
    Utf8Step step{1, true};
    while (at < text.size() && static_cast<unsigned char>(text[at]) >= 0x80) {
      step = utf8_step(text.substr(at));
      if (!step.valid) break;
      at = skip_plain(text, at + step.length);
    }
    out.append(text, from, at - from);
    if (at == text.size()) break;
    if (step.valid) {
      append_escape(out, text[at]);
      from = at + 1;
    } else {
      out += kReplacementCharacter;
      from = at + step.length;
    }
  }
  out += '"';
}

void append_json(std::string& out, const Json& value) { append_value(out, value, KeyOrder::kInsertion); }

std::string to_json_text(const Json& value) {
  std::string out;
  append_json(out, value);
  return out;
}

std::string to_plain_text(const Json& value) {
  return value.is_string() ? std::string(value.get_string()) : to_json_text(value);
}

std::string to_canonical_json(const Json& value) {
  std::string out;
  append_value(out, value, KeyOrder::kSorted);
  return out;
}

}  // namespace praxis
