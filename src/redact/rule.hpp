// The rules that say how secrets and personal data look. A rule is data: words that must occur, an expression
// of RE2, a check. The tables are in `secret_rules*.cpp`, `service_rules*.cpp`, `generic_rules.cpp` and
// `personal_rules*.cpp`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace praxis::redact {

/// Where the expression of a rule begins.
enum class Form : std::uint8_t {
  kAtWord,     ///< at the word; the word begins a token
  kAfterWord,  ///< the expression is a value that follows the word and a separator: `word_key = "value"`
  kInWord,     ///< at the word, which may be part of an identifier; the first group is the value
  kAround,     ///< at the begin of the token that the word is in
  kNumber,     ///< at a token that holds digits; a word, if there are any, stands near before it
  kRun,        ///< a long run of letters and digits that is a whole value
};

/// What a found value must also satisfy.
enum class Check : std::uint8_t {
  kNone,
  kMixed,          ///< holds a letter and a digit
  kHex,            ///< hexadecimal with a letter and a digit
  kPassword,       ///< no placeholder, variable or code
  kCredential,     ///< as `kPassword`, and holds a letter and a digit, or is long and random
  kKeyLike,        ///< a letter and digits in a row of no words
  kRandom,         ///< a letter, a digit, and letters of both cases or much entropy
  kJwt,            ///< the first part is the base64url form of a JSON object that names an algorithm
  kChecksumToken,  ///< ends with the CRC-32 of the rest in base 62, or is random
  kBasicAuth,      ///< base64 of `user:password`
  kUrlPassword,    ///< the password of a URL; no placeholder
  kPrivateKey,     ///< extends to the end of the PEM block
  kLuhn,
  kCard,  ///< an issuer's prefix and length, and Luhn's check digit
  kIban,
  kSsn,  ///< an area, group and serial that were or can be issued
  kIpv4,
  kIpv6,
  kMac,
  kEmail,
  kPhone,
  kAbaRouting,
  kNhs,
  kNino,
  kSpanishId,
  kItalianCode,
  kFrenchNir,
  kGermanTaxId,
  kPesel,
  kPersonnummer,
  kFinnishId,
  kNorwegianId,
  kDutchBsn,
  kBelgianId,
  kCpf,
  kCnpj,
  kAadhaar,
  kNric,
  kChineseId,
  kKoreanRrn,
  kAustralianTfn,
  kRut,
  kCuit,
  kVin,
  kBase58Check,
  kCoordinates,
  kBirthDate,
};

/// How many finds are wanted: `kBalanced` leaves out what is often something else.
enum class Profile : std::uint8_t { kBalanced, kStrict };

/// One kind of secret or personal data. Kinds may have several rules.
struct Rule {
  std::string_view kind;     ///< such as `aws-access-key`; not unique
  std::string_view words;    ///< lower case, separated by `|`; one of them must occur
  std::string_view pattern;  ///< RE2; the first group, if there is one, is the value
  std::string_view source;   ///< public page that documents the form
  Form form = Form::kAtWord;
  Check check = Check::kNone;
  float entropy = 0;                   ///< least bits per character of the value
  Profile least = Profile::kBalanced;  ///< the first profile that uses the rule
};

/// Tokens of services that their prefix identifies, and other secrets with a form of their own.
std::span<const Rule> token_rules();
std::span<const Rule> more_token_rules();
/// Values that only the name of a service near them identifies.
std::span<const Rule> service_rules();
std::span<const Rule> more_service_rules();
/// Values that only a word such as `password` near them identifies.
std::span<const Rule> generic_rules();
/// Personal data with a form of its own.
std::span<const Rule> personal_rules();
/// Personal data that a word near it identifies.
std::span<const Rule> personal_context_rules();

}  // namespace praxis::redact
