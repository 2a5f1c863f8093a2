#include "redact/checks.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "praxis/base/base64.hpp"

namespace praxis::redact {
namespace {

/// A right value, and one in which a single character is wrong.
struct CheckCase {
  Check check;
  std::string right;
  std::string wrong;
};

TEST(RedactChecks, ChecksumAcceptsTheRightDigitOnly) {
  const std::vector<CheckCase> cases{
      {Check::kCard, "4111 1111 1111 1111", "4111 1111 1111 1112"},
      {Check::kCard, "378282246310005", "378282246310006"},
      {Check::kLuhn, "490154203237518", "490154203237519"},
      {Check::kIban, "GB82 WEST 1234 5698 7654 32", "GB82 WEST 1234 5698 7654 33"},
      {Check::kIban, "DE89370400440532013000", "DE8937040044053201300"},
      {Check::kSsn, "078-05-1120", "666-05-1120"},
      {Check::kSsn, "123-45-6789", "123-00-6789"},
      {Check::kAbaRouting, "021000021", "021000022"},
      {Check::kNhs, "943 476 5919", "943 476 5918"},
      {Check::kNino, "AA 12 34 56 A", "GB 12 34 56 A"},
      {Check::kSpanishId, "12345678Z", "12345678A"},
      {Check::kSpanishId, "X1234567L", "Y1234567L"},
      {Check::kItalianCode, "RSSMRA85T10A562S", "RSSMRA85T10A562T"},
      {Check::kFrenchNir, "2 55 08 14 168 025 38", "2 55 08 14 168 025 39"},
      {Check::kGermanTaxId, "86095742719", "86095742718"},
      {Check::kPesel, "44051401359", "44051401358"},
      {Check::kPersonnummer, "811218-9876", "811218-9875"},
      {Check::kFinnishId, "131052-308T", "131052-308U"},
      {Check::kDutchBsn, "111222333", "111222334"},
      {Check::kBelgianId, "85.07.30-033.28", "85.07.30-033.29"},
      {Check::kCpf, "111.444.777-35", "111.444.777-36"},
      {Check::kCnpj, "11.222.333/0001-81", "11.222.333/0001-82"},
      {Check::kAadhaar, "2341 2341 2346", "2341 2341 2347"},
      {Check::kNric, "S1234567D", "S1234567A"},
      {Check::kChineseId, "11010519491231002X", "110105194912310021"},
      {Check::kAustralianTfn, "123 456 782", "123 456 783"},
      {Check::kRut, "12.345.678-5", "12.345.678-6"},
      {Check::kCuit, "20-12345678-6", "20-12345678-7"},
      {Check::kVin, "1M8GDM9AXKP042788", "1M8GDM9A1KP042788"},
      {Check::kBase58Check, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb"},
  };
  for (const CheckCase& each : cases) {
    EXPECT_TRUE(passes(each.check, each.right)) << each.right;
    EXPECT_FALSE(passes(each.check, each.wrong)) << each.wrong;
  }
}

TEST(RedactChecks, AddressesOfExamplesAndMachinesAreNoPersonalData) {
  const std::vector<CheckCase> cases{
      {Check::kIpv4, "86.121.97.248", "127.0.0.1"},
      {Check::kIpv4, "172.61.42.192", "192.0.2.7"},
      {Check::kIpv4, "36.160.14.148", "36.160.14.256"},
      {Check::kIpv6, "2606:4700:10::6814:1", "2001:db8::1:2"},
      {Check::kMac, "3c:22:fb:01:02:03", "ff:ff:ff:ff:ff:ff"},
      {Check::kEmail, "jane.roe@mail.example.io", "jane@example.com"},
      {Check::kEmail, "jane%40roe.io", "logo@2x.png"},
      {Check::kPhone, "+46 (0)8 928 571 38", "2024-05-06"},
      {Check::kBirthDate, "31/12/1990", "31/31/1990"},
      {Check::kCoordinates, "52.5200, 13.4050", "95.5200, 13.4050"},
  };
  for (const CheckCase& each : cases) {
    EXPECT_TRUE(passes(each.check, each.right)) << each.right;
    EXPECT_FALSE(passes(each.check, each.wrong)) << each.wrong;
  }
}

TEST(RedactChecks, TokensAreCheckedByStructure) {
  const std::string header = base64_encode(R"({"alg":"HS256"})");
  EXPECT_TRUE(passes(Check::kJwt, header + ".x.y"));
  EXPECT_FALSE(passes(Check::kJwt, "eyJub3RoaW5nIjp0cnVlfQ.x.y"));
  EXPECT_TRUE(passes(Check::kBasicAuth, base64_encode("someone:pass1")));
  EXPECT_FALSE(passes(Check::kBasicAuth, base64_encode("no colon here")));
  const std::string body = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";  // without entropy, so the checksum decides
  EXPECT_TRUE(passes(Check::kChecksumToken, "ghp_" + body + crc32_suffix(body)));
  EXPECT_FALSE(passes(Check::kChecksumToken, "ghp_" + body + "000000"));
}

TEST(RedactChecks, CredentialsAreNeitherPlaceholdersNorCode) {
  for (const char* right : {"hunter2A9b", "s3cr3t-v4lue", "a8F3kL9q2Z", "951bc382db9cbad29c68"})
    EXPECT_TRUE(passes(Check::kCredential, right)) << right;
  for (const char* wrong :
       {"your-api-key", "${KEY}", "get_token()", "string", "xxxxxxxx1", "process.env.KEY", "sha256"})
    EXPECT_FALSE(passes(Check::kCredential, wrong)) << wrong;
}

TEST(RedactChecks, EntropyCountsBitsPerCharacter) {
  EXPECT_DOUBLE_EQ(entropy_of("aaaa"), 0);
  EXPECT_DOUBLE_EQ(entropy_of("abab"), 1);
  EXPECT_DOUBLE_EQ(entropy_of("abcd"), 2);
}

}  // namespace
}  // namespace praxis::redact
