#include "redact/checks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "base/ascii.hpp"
#include "redact/letters.hpp"

namespace praxis::redact {
namespace {

/// Which kinds of characters a text holds, and how many.
struct Census {
  std::size_t upper = 0;
  std::size_t lower = 0;
  std::size_t digits = 0;
  std::size_t others = 0;
  std::size_t changes = 0;  ///< how often a digit follows a letter, or a letter a digit

  std::size_t letters() const { return upper + lower; }
};

Census census_of(std::string_view text) {
  Census out;
  char before = 0;
  for (const char c : text) {
    if (is_digit(c)) {
      ++out.digits;
    } else if (c >= 'a' && c <= 'z') {
      ++out.lower;
    } else if (c >= 'A' && c <= 'Z') {
      ++out.upper;
    } else {
      ++out.others;
    }
    if ((is_digit(c) && is_letter(before)) || (is_letter(c) && is_digit(before))) ++out.changes;
    before = c;
  }
  return out;
}

bool is_mixed(std::string_view text) {
  const Census census = census_of(text);
  return census.digits > 0 && census.letters() > 0;
}

/// Whether `text` is an expression, a variable or a path of a program rather than a value.
bool is_code(std::string_view text) {
  for (const std::string_view begin :
       {"$", "{", "<", "%(", "%{", "[", "process.env", "os.env", "env.", "getenv", "self.", "this.",
        "std::", "null", "undefined", "ref+", "@"}) {
    if (text.starts_with(begin)) return true;
  }
  for (const std::string_view inside :
       {"${", "{{", "$(", "()", "::", "->", "](", "<%", "...", "\u2026", "://"}) {
    if (text.contains(inside)) return true;
  }
  return text.ends_with('(') || text.ends_with('[');
}

/// Words of letters joined by `.`, `_` or `-`: an identifier.
bool is_identifier(std::string_view text) {
  std::size_t word = 0;
  std::size_t separators = 0;
  for (const char c : text) {
    if (is_letter(c)) {
      ++word;
    } else if (c == '_' || c == '.' || c == '-') {
      ++separators;
    } else {
      return false;
    }
  }
  return word > 0 && (separators > 0 || text.size() < 20);
}

bool is_password(std::string_view text) {
  if (is_placeholder(text) || is_code(text)) return false;
  const std::string low = lower_case(text);
  for (const std::string_view word :
       {"password", "passwd", "secret", "token", "string", "true", "false", "none", "null", "required",
        "optional", "hidden", "changeme", "redacted", "empty"}) {
    if (low == word) return false;
  }
  return true;
}

bool is_credential(std::string_view text) {
  if (!is_password(text) || is_identifier(text)) return false;
  const Census census = census_of(text);
  if (census.digits == 0)
    return text.size() >= 20 && census.upper > 2 && census.lower > 2 && entropy_of(text) >= 3.5;
  if (census.letters() == 0) return text.size() >= 16 && census.others == 0 && entropy_of(text) >= 3.0;
  // `sha256`, `utf-8`, `step-12`: a word with a number is no credential.
  return census.changes >= 2 || (text.size() >= 16 && census.digits >= 3) || census.others >= 2;
}

bool is_random(std::string_view text) {
  const Census census = census_of(text);
  if (census.digits == 0 || census.letters() == 0 || is_placeholder(text)) return false;
  return (census.upper > 0 && census.lower > 0 && census.changes >= 2) || census.changes >= 4;
}

bool is_key_like(std::string_view text) {
  const Census census = census_of(text);
  if (census.digits < 3 || census.letters() < 3 || is_placeholder(text) || is_code(text)) return false;
  const std::size_t plain = census.digits + census.letters();
  return census.others * 5 <= plain && (census.changes >= 3 || (census.digits >= 6 && plain >= 16));
}

bool is_basic_auth(std::string_view text) {
  const std::string plain = decoded_base64(text);
  const std::size_t colon = plain.find(':');
  return colon != std::string::npos && colon > 0 && colon + 1 < plain.size() &&
         std::ranges::all_of(plain, [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

double entropy_of(std::string_view text) {
  if (text.empty()) return 0;
  std::array<std::uint32_t, 256> counts{};
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
  double out = 0;
  for (const std::uint32_t count : counts) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / static_cast<double>(text.size());
    out -= share * std::log2(share);
  }
  return out;
}

bool is_placeholder(std::string_view text) {
  if (text.empty()) return true;
  const std::string low = lower_case(text);
  for (const std::string_view word : {"your", "example", "placeholder", "changeme", "change-me", "change_me",
                                      "xxxx", "****", "todo", "dummy", "<", "insert", "replace", "not-set",
                                      "notset", "redacted", "goes here", "goes-here", "goes_here"}) {
    if (low.contains(word)) return true;
  }
  std::size_t same = 0;
  for (const char c : low) same += c == low.front() ? 1 : 0;
  return same == low.size();
}

bool has_luhn_digit(std::string_view digits) {
  int sum = 0;
  bool twice = false;
  for (std::size_t i = digits.size(); i-- > 0; twice = !twice) {
    const int digit = (digits[i] - '0') * (twice ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return !digits.empty() && sum % 10 == 0;
}

bool is_jwt(std::string_view token) {
  const std::string header = decoded_base64(token.substr(0, token.find('.')));
  return header.starts_with('{') &&
         (header.contains("\"alg\"") || header.contains("\"typ\"") || header.contains("\"enc\""));
}

std::string crc32_suffix(std::string_view body) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : body) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0);
  }
  crc = ~crc;
  std::string out(6, '0');
  for (std::size_t i = out.size(); i-- > 0; crc /= 62) out[i] = kDigits[crc % 62];
  return out;
}

bool has_crc32_suffix(std::string_view token) {
  const std::size_t body = token.rfind('_') + 1;
  if (token.size() < body + 7) return false;
  const std::string_view rest = token.substr(body);
  return crc32_suffix(rest.substr(0, rest.size() - 6)) == rest.substr(rest.size() - 6);
}

std::string digits_of(std::string_view text) {
  std::string out;
  std::ranges::copy_if(text, std::back_inserter(out), is_digit);
  return out;
}

bool passes(Check check, std::string_view value) {
  switch (check) {
    case Check::kNone:
    case Check::kPrivateKey:
      return true;
    case Check::kMixed:
      return is_mixed(value) && !is_placeholder(value);
    case Check::kHex:
      return is_mixed(value);
    case Check::kPassword:
      return is_password(value);
    case Check::kCredential:
      return is_credential(value);
    case Check::kKeyLike:
      return is_key_like(value);
    case Check::kRandom:
      return is_random(value);
    case Check::kJwt:
      return is_jwt(value);
    case Check::kChecksumToken:
      return has_crc32_suffix(value) || (entropy_of(value) >= 3.0 && !is_placeholder(value));
    case Check::kBasicAuth:
      return is_basic_auth(value);
    case Check::kUrlPassword:
      return !is_placeholder(value) && !is_code(value) && value != "NULL";
    default:
      return passes_personal(check, value);
  }
}

}  // namespace praxis::redact
