#include "engines/restate/identity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "engines/restate/testing/signed.hpp"

namespace praxis::restate {
namespace {

using ::testing::HasSubstr;
using namespace testing;  // NOLINT(google-build-using-namespace)

constexpr UnixMillis kNow{1'800'000'000'000};
constexpr std::string_view kPath = "/invoke/praxis/run";
constexpr std::string_view kOtherKey = "publickeyv1_5vkm1q4HQYmnwae6xTASVuaPETUS4Zt3ZJsmLa2H9R9P";

/// Why a request is refused; empty: it is not.
std::string refusal(const SenderClaim& claim, UnixMillis now = kNow) {
  const std::array keys{read_identity_key(kOtherKey).value(), read_identity_key(kSigningKey).value()};
  const auto known = check_sender(keys, claim, now);
  return known ? "" : known.error().message;
}

std::string refusal_of(std::string_view token, std::string_view path = kPath) {
  return refusal({.scheme = "v1", .signature = token, .path = path});
}

TEST(RestateIdentity, TakesTheSignatureOfARealServer) {
  const SenderClaim claim{.scheme = "v1", .signature = kRecordedToken, .path = "/discover"};
  EXPECT_EQ(refusal(claim, kRecordedAt), "");
  EXPECT_THAT(refusal(claim, kRecordedAt + 2 * kRecordedLife), HasSubstr("compare the clocks"));
  EXPECT_THAT(refusal(claim, kRecordedAt + -2 * kRecordedLife), HasSubstr("compare the clocks"));
  std::string changed(kRecordedToken);
  changed[changed.find('.') + 8] ^= 1;
  EXPECT_NE(refusal({.scheme = "v1", .signature = changed, .path = "/discover"}, kRecordedAt), "");
}

TEST(RestateIdentity, RefusesWhatIsNotSignedForThisPath) {
  const std::string token = token_for(kPath, kNow);
  EXPECT_EQ(refusal_of(token), "");
  EXPECT_THAT(refusal_of(token, "/invoke/praxis/wake"), HasSubstr("another path"));
  EXPECT_THAT(refusal({.scheme = "unsigned", .signature = token, .path = kPath}), HasSubstr("not signed"));
  EXPECT_THAT(refusal({.scheme = {}, .signature = token, .path = kPath}), HasSubstr("not signed"));
  EXPECT_THAT(refusal({.scheme = "v2", .signature = token, .path = kPath}), HasSubstr("not known"));
  EXPECT_THAT(refusal({.scheme = "v1", .signature = {}, .path = kPath}), HasSubstr("three parts"));
}

TEST(RestateIdentity, RefusesOtherKeysAndAlgorithms) {
  const std::array other{read_identity_key(kOtherKey).value()};
  const std::string token = token_for(kPath, kNow);
  EXPECT_FALSE(check_sender(other, {.scheme = "v1", .signature = token, .path = kPath}, kNow));
  EXPECT_FALSE(check_sender({}, {.scheme = "v1", .signature = token, .path = kPath}, kNow));
  EXPECT_THAT(refusal_of(signed_token(JsonObject{{"alg", "none"}}, claims_for(kPath, kNow))),
              HasSubstr("algorithm"));
  EXPECT_THAT(refusal_of(token.substr(0, token.rfind('.') + 1)), HasSubstr("not of a key"));
}

TEST(RestateIdentity, EachClaimIsNeeded) {
  for (const char* const name : {"aud", "exp", "iat", "nbf"}) {
    JsonObject claims = claims_for(kPath, kNow);
    claims.erase(name);
    EXPECT_NE(refusal_of(signed_token(JsonObject{{"alg", "EdDSA"}}, claims)), "") << name;
    claims[name] = "1800000000";
    EXPECT_NE(refusal_of(signed_token(JsonObject{{"alg", "EdDSA"}}, claims)), "") << name;
  }
}

TEST(RestateIdentity, BrokenTokensAreRefused) {
  for (const char* const token :
       {"", ".", "..", "a.b", "a.b.c", "!.!.!", "bnVsbA.bnVsbA.bnVsbA", "e30.e30.e30"})
    EXPECT_NE(refusal_of(token), "") << token;
}

TEST(RestateIdentity, KeysAreThoseOfTheLog) {
  EXPECT_TRUE(read_identity_key(kSigningKey));
  const std::string_view digits = kSigningKey.substr(kSigningKey.find('_') + 1);
  for (const std::string& wrong :
       {std::string(), std::string(digits), std::string("publickeyv1_"),
        "publickeyv1_0" + std::string(digits), "publickeyv1_1" + std::string(digits),
        "publickeyv1_" + std::string(digits.substr(1)), "publickeyv1_zz" + std::string(digits)}) {
    const auto key = read_identity_key(wrong);
    ASSERT_FALSE(key) << wrong;
    EXPECT_THAT(key.error().message, HasSubstr("not a public key of Restate"));
  }
}

TEST(RestateOracle, SendersAreKnownAsToTheOfficialCore) {
  const char* const file = std::getenv("PRAXIS_RESTATE_SENDERS");
  if (file == nullptr) GTEST_SKIP() << "scripts/check-restate makes the answers of the official core";
  std::ifstream in(file);
  std::size_t known = 0, unknown = 0;
  for (std::string line; std::getline(in, line);) {
    const auto example = parse_json(line);
    ASSERT_TRUE(example) << line;
    const auto key = read_identity_key(json_text(*example, "key"));
    ASSERT_TRUE(key) << line;
    const std::array keys{*key};
    SenderClaim claim{.scheme = {}, .signature = {}, .path = json_text(*example, "path")};
    if (json_at(*example, "scheme").is_string()) claim.scheme = json_text(*example, "scheme");
    if (json_at(*example, "token").is_string()) claim.signature = json_text(*example, "token");
    const auto checked = check_sender(keys, claim, UnixMillis{json_int(*example, "now")});
    ASSERT_EQ(checked.has_value(), json_bool(*example, "known")) << line;
    ++(checked ? known : unknown);
  }
  EXPECT_GT(known, 0U);
  EXPECT_GT(unknown, 0U);
}

}  // namespace
}  // namespace praxis::restate
