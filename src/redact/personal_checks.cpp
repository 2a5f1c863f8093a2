// Check digits of the numbers that states and banks give to people.
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

#include "base/base58.hpp"
#include "redact/address_checks.hpp"
#include "redact/checks.hpp"
#include "redact/letters.hpp"

namespace praxis::redact {
namespace {

/// The sum of `weights[i] * digits[i]`.
template <std::size_t kCount>
int weighted(std::string_view digits, const std::array<int, kCount>& weights) {
  int sum = 0;
  for (std::size_t i = 0; i < kCount && i < digits.size(); ++i) sum += weights[i] * (digits[i] - '0');
  return sum;
}

std::uint64_t number_of(std::string_view digits) {
  std::uint64_t out = 0;
  for (const char c : digits) out = out * 10 + static_cast<std::uint64_t>(c - '0');
  return out;
}

bool all_equal(std::string_view digits) {
  return digits.find_first_not_of(digits.front()) == std::string_view::npos;
}

std::string upper_alnum(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_alnum(c)) out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return out;
}

bool is_day(std::string_view month, std::string_view day) {
  const auto m = number_of(month);
  const auto d = number_of(day);
  return m >= 1 && m <= 12 && d >= 1 && d <= 31;
}

/// The check digit modulo 11 of Brazilian numbers.
int brazilian(std::string_view digits, int highest) {
  int weight = 2;
  int sum = 0;
  for (std::size_t i = digits.size(); i-- > 0;) {
    sum += weight * (digits[i] - '0');
    weight = weight == highest ? 2 : weight + 1;
  }
  return sum % 11 < 2 ? 0 : 11 - sum % 11;
}

bool is_cpf(const std::string& d) {
  return d.size() == 11 && !all_equal(d) && brazilian(d.substr(0, 9), 11) == d[9] - '0' &&
         brazilian(d.substr(0, 10), 11) == d[10] - '0';
}

bool is_cnpj(const std::string& d) {
  return d.size() == 14 && !all_equal(d) && brazilian(d.substr(0, 12), 9) == d[12] - '0' &&
         brazilian(d.substr(0, 13), 9) == d[13] - '0';
}

bool is_nhs(const std::string& d) {
  if (d.size() != 10 || all_equal(d)) return false;
  const int rest = 11 - weighted<9>(d, {10, 9, 8, 7, 6, 5, 4, 3, 2}) % 11;
  return (rest == 11 ? 0 : rest) == d[9] - '0';
}

bool is_aadhaar(const std::string& digits) {
  static constexpr std::uint8_t kTimes[10][10] = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4, 0, 6, 7, 8, 9, 5}, {2, 3, 4, 0, 1, 7, 8, 9, 5, 6},
      {3, 4, 0, 1, 2, 8, 9, 5, 6, 7}, {4, 0, 1, 2, 3, 9, 5, 6, 7, 8}, {5, 9, 8, 7, 6, 0, 4, 3, 2, 1},
      {6, 5, 9, 8, 7, 1, 0, 4, 3, 2}, {7, 6, 5, 9, 8, 2, 1, 0, 4, 3}, {8, 7, 6, 5, 9, 3, 2, 1, 0, 4},
      {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}};
  static constexpr std::uint8_t kTurn[8][10] = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 5, 7, 6, 2, 8, 3, 0, 9, 4}, {5, 8, 0, 3, 7, 9, 6, 1, 4, 2},
      {8, 9, 1, 6, 0, 4, 3, 5, 2, 7}, {9, 4, 5, 3, 1, 2, 6, 8, 7, 0}, {4, 2, 8, 6, 5, 7, 3, 9, 0, 1},
      {2, 7, 9, 3, 8, 0, 6, 4, 1, 5}, {7, 0, 4, 6, 9, 1, 3, 2, 5, 8}};
  if (digits.size() != 12 || digits[0] < '2') return false;
  std::uint8_t sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i)
    sum = kTimes[sum][kTurn[i % 8][digits[digits.size() - 1 - i] - '0']];
  return sum == 0;
}

bool is_spanish_id(const std::string& text) {
  if (text.size() != 9) return false;
  std::string digits = text.substr(0, 8);
  if (text[0] >= 'X' && text[0] <= 'Z') digits[0] = static_cast<char>('0' + (text[0] - 'X'));
  return std::ranges::all_of(digits, is_digit) &&
         std::string_view("TRWAGMYFPDXBNJZSQVHLCKE")[number_of(digits) % 23] == text[8];
}

bool is_italian_code(const std::string& text) {
  static constexpr std::array<int, 26> kOdd{1,  0,  5, 7, 9, 13, 15, 17, 19, 21, 2,  4,  18,
                                            20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23};
  if (text.size() != 16) return false;
  int sum = 0;
  for (std::size_t i = 0; i < 15; ++i) {
    const int value = is_digit(text[i]) ? text[i] - '0' : text[i] - 'A';
    sum += i % 2 == 0 ? kOdd[static_cast<std::size_t>(value)] : value;
  }
  return text[15] == 'A' + sum % 26;
}

bool is_french_nir(const std::string& text) {
  if (text.size() != 15) return false;
  std::string digits = text;
  std::uint64_t less = 0;
  if (text[5] == '2' && (text[6] == 'A' || text[6] == 'B')) {
    less = text[6] == 'A' ? 1000000 : 2000000;
    digits[6] = '0';
  }
  if (!std::ranges::all_of(digits, is_digit)) return false;
  const std::uint64_t body = number_of(std::string_view(digits).substr(0, 13)) - less;
  return 97 - body % 97 == number_of(std::string_view(digits).substr(13));
}

bool is_german_tax_id(const std::string& d) {
  if (d.size() != 11 || d[0] == '0') return false;
  int product = 10;
  for (std::size_t i = 0; i < 10; ++i) {
    int sum = (d[i] - '0' + product) % 10;
    if (sum == 0) sum = 10;
    product = sum * 2 % 11;
  }
  return (11 - product) % 10 == d[10] - '0';
}

bool is_pesel(const std::string& d) {
  return d.size() == 11 && !all_equal(d) &&
         (10 - weighted<10>(d, {1, 3, 7, 9, 1, 3, 7, 9, 1, 3}) % 10) % 10 == d[10] - '0';
}

bool is_personnummer(std::string d) {
  if (d.size() == 12) d.erase(0, 2);
  if (d.size() != 10) return false;
  std::string day = d.substr(4, 2);
  if (day[0] >= '6') day[0] = static_cast<char>(day[0] - 6);  // coordination numbers
  return is_day(std::string_view(d).substr(2, 2), day) && has_luhn_digit(d);
}

bool is_finnish_id(std::string_view text) {
  if (text.size() != 11) return false;
  const std::string digits = digits_of(text.substr(0, 6)) + digits_of(text.substr(7, 3));
  return digits.size() == 9 && is_day(text.substr(2, 2), text.substr(0, 2)) &&
         std::string_view("0123456789ABCDEFHJKLMNPRSTUVWXY")[number_of(digits) % 31] == text[10];
}

bool is_norwegian_id(const std::string& d) {
  if (d.size() != 11 || all_equal(d)) return false;
  return weighted<10>(d, {3, 7, 6, 1, 8, 9, 4, 5, 2, 1}) % 11 == 0 &&
         weighted<11>(d, {5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1}) % 11 == 0;
}

bool is_dutch_bsn(std::string d) {
  if (d.size() == 8) d.insert(0, "0");
  return d.size() == 9 && !all_equal(d) && weighted<9>(d, {9, 8, 7, 6, 5, 4, 3, 2, -1}) % 11 == 0;
}

bool is_belgian_id(const std::string& d) {
  if (d.size() != 11 || all_equal(d)) return false;
  const std::uint64_t body = number_of(std::string_view(d).substr(0, 9));
  const std::uint64_t check = number_of(std::string_view(d).substr(9));
  return 97 - body % 97 == check || 97 - (2000000000 + body) % 97 == check;
}

bool is_nric(const std::string& text) {
  if (text.size() != 9) return false;
  int sum = weighted<7>(std::string_view(text).substr(1), {2, 7, 6, 5, 4, 3, 2});
  const char kind = text[0];
  if (kind == 'T' || kind == 'G') sum += 4;
  if (kind == 'M') sum += 3;
  const auto at = static_cast<std::size_t>(sum % 11);
  if (kind == 'S' || kind == 'T') return std::string_view("JZIHGFEDCBA")[at] == text[8];
  if (kind == 'M') return std::string_view("KLJNPQRTUWX")[10 - at] == text[8];
  return std::string_view("XWUTRQPNMLK")[at] == text[8];
}

bool is_chinese_id(const std::string& text) {
  if (text.size() != 18) return false;
  const int sum = weighted<17>(text, {7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2});
  return is_day(std::string_view(text).substr(10, 2), std::string_view(text).substr(12, 2)) &&
         std::string_view("10X98765432")[static_cast<std::size_t>(sum % 11)] == text[17];
}

bool is_korean_rrn(const std::string& d) {
  return d.size() == 13 && is_day(std::string_view(d).substr(2, 2), std::string_view(d).substr(4, 2)) &&
         (11 - weighted<12>(d, {2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5}) % 11) % 10 == d[12] - '0';
}

bool is_australian_tfn(const std::string& d) {
  return d.size() == 9 && !all_equal(d) && weighted<9>(d, {1, 4, 3, 7, 5, 8, 6, 9, 10}) % 11 == 0;
}

bool is_rut(const std::string& text) {
  if (text.size() < 8) return false;
  const std::string digits = digits_of(std::string_view(text).substr(0, text.size() - 1));
  int weight = 2;
  int sum = 0;
  for (std::size_t i = digits.size(); i-- > 0; weight = weight == 7 ? 2 : weight + 1)
    sum += weight * (digits[i] - '0');
  return std::string_view("0K987654321")[static_cast<std::size_t>(sum % 11)] == text.back();
}

bool is_cuit(const std::string& d) {
  return d.size() == 11 && (11 - weighted<10>(d, {5, 4, 3, 2, 7, 6, 5, 4, 3, 2}) % 11) % 11 == d[10] - '0';
}

bool is_vin(const std::string& text) {
  static constexpr std::array<int, 26> kValues{1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4,
                                               5, 0, 7, 0, 9, 2, 3, 4, 5, 6, 7, 8, 9};
  static constexpr std::array<int, 17> kWeights{8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2};
  if (text.size() != 17) return false;
  int sum = 0;
  for (std::size_t i = 0; i < 17; ++i) {
    const int value = is_digit(text[i]) ? text[i] - '0' : kValues[static_cast<std::size_t>(text[i] - 'A')];
    sum += kWeights[i] * value;
  }
  return std::string_view("0123456789X")[static_cast<std::size_t>(sum % 11)] == text[8];
}

bool is_nino(const std::string& text) {
  if (text.size() != 9) return false;
  for (const std::string_view prefix : {"BG", "GB", "NK", "KN", "TN", "NT", "ZZ"}) {
    if (text.starts_with(prefix)) return false;
  }
  return !std::string_view("DFIQUV").contains(text[0]) && !std::string_view("DFIQUVO").contains(text[1]);
}

bool is_routing(const std::string& d) {
  if (d.size() != 9 || all_equal(d)) return false;
  const int bank = (d[0] - '0') * 10 + (d[1] - '0');
  return (bank <= 12 || (bank >= 21 && bank <= 32) || (bank >= 61 && bank <= 72) || bank == 80) &&
         weighted<9>(d, {3, 7, 1, 3, 7, 1, 3, 7, 1}) % 10 == 0;
}

/// The remaining checks by country.
bool passes_national(Check check, std::string_view value) {
  switch (check) {
    case Check::kSpanishId:
      return is_spanish_id(upper_alnum(value));
    case Check::kItalianCode:
      return is_italian_code(upper_alnum(value));
    case Check::kFrenchNir:
      return is_french_nir(upper_alnum(value));
    case Check::kGermanTaxId:
      return is_german_tax_id(digits_of(value));
    case Check::kPesel:
      return is_pesel(digits_of(value));
    case Check::kPersonnummer:
      return is_personnummer(digits_of(value));
    case Check::kFinnishId:
      return is_finnish_id(value);
    case Check::kNorwegianId:
      return is_norwegian_id(digits_of(value));
    case Check::kDutchBsn:
      return is_dutch_bsn(digits_of(value));
    case Check::kBelgianId:
      return is_belgian_id(digits_of(value));
    case Check::kCpf:
      return is_cpf(digits_of(value));
    case Check::kCnpj:
      return is_cnpj(digits_of(value));
    case Check::kAadhaar:
      return is_aadhaar(digits_of(value));
    case Check::kNric:
      return is_nric(upper_alnum(value));
    case Check::kChineseId:
      return is_chinese_id(upper_alnum(value));
    case Check::kKoreanRrn:
      return is_korean_rrn(digits_of(value));
    case Check::kAustralianTfn:
      return is_australian_tfn(digits_of(value));
    case Check::kRut:
      return is_rut(upper_alnum(value));
    case Check::kCuit:
      return is_cuit(digits_of(value));
    default:
      return true;
  }
}

}  // namespace

bool is_base58check(std::string_view text) {
  for (const std::size_t size : {25UL, 37UL, 38UL}) {
    const std::string bytes = base58_decode(text, size);
    if (bytes.empty()) continue;
    std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
    crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()), size - 4);
    crypto_hash_sha256(hash.data(), hash.data(), hash.size());
    if (std::equal(hash.begin(), hash.begin() + 4, bytes.end() - 4,
                   [](unsigned char a, char b) { return a == static_cast<unsigned char>(b); }))
      return true;
  }
  return false;
}

bool is_ssn(std::string_view digits) {
  if (digits.size() != 9) return false;
  const std::string_view area = digits.substr(0, 3);
  return area != "000" && area != "666" && digits.substr(3, 2) != "00" && digits.substr(5) != "0000" &&
         !all_equal(digits);
}

bool passes_personal(Check check, std::string_view value) {
  switch (check) {
    case Check::kLuhn:
      return has_luhn_digit(digits_of(value)) && !all_equal(digits_of(value));
    case Check::kCard:
      return is_card(digits_of(value));
    case Check::kIban:
      return is_iban(value);
    case Check::kSsn:
      return is_ssn(digits_of(value));
    case Check::kIpv4:
      return is_public_ipv4(value);
    case Check::kIpv6:
      return is_public_ipv6(value);
    case Check::kMac:
      return is_mac(value);
    case Check::kEmail:
      return is_email(value);
    case Check::kPhone:
      return is_phone(value);
    case Check::kCoordinates:
      return is_coordinates(value);
    case Check::kBirthDate:
      return is_date(value);
    case Check::kAbaRouting:
      return is_routing(digits_of(value));
    case Check::kNhs:
      return is_nhs(digits_of(value));
    case Check::kNino:
      return is_nino(upper_alnum(value));
    case Check::kVin:
      return is_vin(upper_alnum(value));
    case Check::kBase58Check:
      return is_base58check(value);
    default:
      return passes_national(check, value);
  }
}

}  // namespace praxis::redact
