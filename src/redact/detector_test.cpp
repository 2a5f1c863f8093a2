#include "redact/detector.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "praxis/base/base64.hpp"
#include "redact/stream.hpp"
#include "redact/testing/examples.hpp"

namespace praxis::redact {
namespace {

const Scope kStrictScope{.profile = Profile::kStrict};

std::string redacted(const Detector& detector, std::string_view text) {
  return replaced(text, detector.find(text), "key");
}

/// What a stream shows of `text`, cut at `cut`.
std::string streamed(const std::shared_ptr<const Detector>& detector, std::string_view text,
                     std::size_t cut) {
  StreamRedactor stream(detector, "key");
  std::string out = stream.push(text.substr(0, cut));
  out += stream.push(text.substr(cut));
  return out + stream.finish();
}

TEST(RedactRules, CoverAtLeast150SecretsAnd25KindsOfPersonalData) {
  std::set<std::string_view> secrets;
  std::set<std::string_view> personal;
  for (const Rule* rule : all_rules()) (is_personal(*rule) ? personal : secrets).insert(rule->kind);
  EXPECT_GE(secrets.size(), 150U);
  EXPECT_GE(personal.size(), 25U);
}

TEST(RedactRules, EachNamesAPublicSourceAndItsWords) {
  for (const Rule* rule : all_rules()) {
    EXPECT_TRUE(rule->source.starts_with("https://")) << rule->kind;
    const bool needs_words = rule->form != Form::kNumber && rule->form != Form::kRun;
    EXPECT_TRUE(!rule->words.empty() || !needs_words) << rule->kind;
    for (const char c : rule->words) EXPECT_FALSE(c >= 'A' && c <= 'Z') << rule->kind;
  }
}

TEST(Detector, ExampleOfEachRuleIsFound) {
  const auto detector = Detector::shared(kStrictScope);
  for (const Rule* rule : all_rules()) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const Example example = example_of(*rule, seed);
      ASSERT_FALSE(example.value.empty()) << rule->kind << " has no example: " << rule->pattern;
      EXPECT_FALSE(redacted(*detector, example.text).contains(example.value))
          << rule->kind << ": " << example.text;
    }
  }
}

TEST(StreamRedactor, ExampleOfEachRuleIsFoundAtEachSplit) {
  const auto detector = Detector::shared(kStrictScope);
  for (const Rule* rule : all_rules()) {
    const Example example = example_of(*rule, 7);
    const std::string whole = redacted(*detector, example.text);
    for (std::size_t cut = 0; cut <= example.text.size(); ++cut) {
      ASSERT_EQ(streamed(detector, example.text, cut), whole)
          << rule->kind << " cut at " << cut << ": " << example.text;
    }
  }
}

TEST(StreamRedactor, SecretInSingleBytesIsFound) {
  const auto detector = Detector::shared(kStrictScope);
  for (const Rule* rule : all_rules()) {
    const Example example = example_of(*rule, 11);
    StreamRedactor stream(detector, "key");
    std::string out;
    for (const char c : example.text) out += stream.push({&c, 1});
    out += stream.finish();
    EXPECT_FALSE(out.contains(example.value)) << rule->kind << ": " << example.text;
  }
}

TEST(StreamRedactor, OrdinaryTextIsHeldBackByAWordAtMost) {
  StreamRedactor stream(Detector::shared({}), "key");
  const std::string text = "The quick brown fox jumps over the lazy dog and then sleeps in the warm sun";
  const std::string shown = stream.push(text);
  EXPECT_LE(stream.held(), 16U) << shown;
  EXPECT_EQ(shown + stream.finish(), text);
}

TEST(StreamRedactor, EndlessKeyIsNeverHeldWhole) {
  StreamRedactor stream(Detector::shared({}), "key");
  std::string out = stream.push("before -----BEGIN RSA " + std::string("PRIVATE KEY-----\n"));
  for (int i = 0; i < 4000; ++i) {
    out += stream.push("MIIEowIBAAKCAQEA\n");
    ASSERT_LE(stream.held(), 20U * 1024);
  }
  out += stream.push("\n\"after\"");
  out += stream.finish();
  EXPECT_TRUE(out.starts_with("before [REDACTED:private-key:")) << out.substr(0, 80);
  EXPECT_TRUE(out.ends_with("\"after\"")) << out.substr(out.size() - 80);
  EXPECT_FALSE(out.contains("MIIE"));
}

TEST(Detector, EscapesBeforeATokenAreNoPartOfIt) {
  const auto detector = Detector::shared({});
  const std::string key = "AKIA" + std::string("QWERTYUIOPASDF23");
  for (const std::string before : {"\\n", "\\t", "%3D", "\\u003d", "-", "_", "\"", "x="}) {
    const std::string out = redacted(*detector, before + key);
    EXPECT_TRUE(out.starts_with(before + "[REDACTED:aws-access-key:")) << out;
  }
}

TEST(Detector, Base64OfASecretIsFound) {
  const std::string out =
      redacted(*Detector::shared({}),
               "data: " + base64_encode("set AKIA" + std::string("QWERTYUIOPASDF23 now")) + " end");
  EXPECT_TRUE(out.starts_with("data: [REDACTED:aws-access-key:")) << out;
  EXPECT_TRUE(out.ends_with(" end")) << out;
}

TEST(Detector, EqualSecretsHaveEqualReplacements) {
  EXPECT_EQ(replacement("email", "a", "k"), replacement("email", "a", "k"));
  EXPECT_NE(replacement("email", "a", "k"), replacement("email", "b", "k"));
  EXPECT_NE(replacement("email", "a", "k"), replacement("email", "a", "l"));
}

TEST(Detector, PlaceholdersCodeAndWordsRemain) {
  const auto detector = Detector::shared({});
  for (const std::string_view text :
       {"password = getPassword()", "token: string", "api_key = ${API_KEY}", "api_key: <your-api-key>",
        "the key is under the doormat", "secret = process.env.SECRET", "Authorization: Bearer $TOKEN",
        "utf-8 sha256", "std::string token = next_token(text);", "password: changeme",
        "at 10:15:32 on 2024-05-06", "version 1.2.3.4", "127.0.0.1", "user@example.com", "logo@2x.png",
        "git@host.test:me/it"}) {
    EXPECT_EQ(redacted(*detector, text), text);
  }
}

}  // namespace
}  // namespace praxis::redact
