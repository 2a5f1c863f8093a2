// What an expression cannot say about a secret or a personal number: check digits, entropy, placeholders.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "redact/rule.hpp"

namespace praxis::redact {

/// Bits per character, from the frequencies of the bytes of `text`.
double entropy_of(std::string_view text);

/// Whether `text` is so regular that it is an example: `xxxx`, `your-key-here`, `${KEY}`, `1234567890`.
bool is_placeholder(std::string_view text);

/// Whether `value` satisfies `check`.
bool passes(Check check, std::string_view value);
/// The part of `passes` for personal data.
bool passes_personal(Check check, std::string_view value);

/// Whether the decimal digits satisfy Luhn's formula.
bool has_luhn_digit(std::string_view digits);
/// Whether the digits are those of a payment card.
bool is_card(std::string_view digits);
/// Whether `text`, with spaces, is an IBAN: the length of its country, and the remainder of ISO 7064 MOD
/// 97-10.
bool is_iban(std::string_view text);
/// Whether the US Social Security number could have been issued.
bool is_ssn(std::string_view digits);
/// Whether `token` has the form of a JSON Web Token.
bool is_jwt(std::string_view token);
/// Whether the last six characters are the CRC-32 of those after the first `_`, in base 62.
bool has_crc32_suffix(std::string_view token);
/// Returns the six characters that `has_crc32_suffix` expects after `body`.
std::string crc32_suffix(std::string_view body);
/// Whether the base58 text ends with the checksum of Bitcoin addresses and keys.
bool is_base58check(std::string_view text);
/// The decimal digits of `text`.
std::string digits_of(std::string_view text);

}  // namespace praxis::redact
