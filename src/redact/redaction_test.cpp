#include "redact/redaction.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "redact/testing/canaries.hpp"

namespace praxis::redact {
namespace {

// Put together, so that scanners of sources do not find them.
const std::string kAccessKey = "AKIA" + std::string("QWERTYUIOPASDF23");
const std::string kPassword = "gR7x" + std::string("Kp2wQz");
const std::string kConfigured = "our own key of no form";

Redaction secrets_only(std::shared_ptr<const Redactor> known = nullptr) {
  return redaction(RedactLevel::kBalanced, false, std::move(known), "");
}

std::shared_ptr<const Redactor> configured() {
  return std::make_shared<const Redactor>(std::vector<std::string>{kConfigured});
}

Json redacted(const Redaction& redaction, std::string_view text) {
  Json json = parse_json(text).value();
  redaction.redact(json);
  return json;
}

TEST(Redaction, ConfiguredKeysAndFindsAreReplacedByOneCall) {
  EXPECT_EQ(secrets_only(configured()).text("a " + kConfigured + " b " + kAccessKey + " c"),
            "a [key] b [REDACTED:aws-access-key] c");
  EXPECT_EQ(secrets_only().text("write to jane@roe.io"), "write to jane@roe.io");
  EXPECT_EQ(redaction(RedactLevel::kBalanced, true, nullptr, "").text("write to jane@roe.io"),
            "write to [REDACTED:email]");
}

TEST(Redaction, OffMasksOnlyConfiguredKeys) {
  const Redaction off = redaction(RedactLevel::kOff, true, configured(), "");
  EXPECT_EQ(off.text(kConfigured + ' ' + kAccessKey), "[key] " + kAccessKey);
  EXPECT_EQ(redacted(off, R"({"a":")" + kConfigured + R"("})"), parse_json(R"({"a":"[key]"})").value());
  EXPECT_FALSE(off.is_off());
  EXPECT_TRUE(redaction(RedactLevel::kOff, true, nullptr, "").is_off());
}

TEST(Redaction, NameOfAMemberSaysWhatItsValueIs) {
  EXPECT_EQ(
      redacted(secrets_only(), R"({"db":{"password":")" + kPassword + R"("},"word":")" + kPassword + R"("})"),
      parse_json(R"({"db":{"password":"[REDACTED:password]"},"word":")" + kPassword + R"("})").value());
}

TEST(Redaction, WordBeforeInAListSaysWhatAValueIs) {
  EXPECT_EQ(redacted(secrets_only(), R"({"argv":["login","--password",")" + kPassword + R"(","now"]})"),
            parse_json(R"({"argv":["login","--password","[REDACTED:password]","now"]})").value());
}

TEST(Redaction, SignaturesAndEncryptedReasoningStay) {
  for (const std::string name : {"signature", "thoughtSignature", "encrypted_content"}) {
    const std::string text = "{\"" + name + "\":\"" + kAccessKey + "\"}";
    EXPECT_EQ(redacted(secrets_only(), text), parse_json(text).value()) << name;
  }
  const std::string hidden = R"({"type":"redacted_thinking","data":")" + kAccessKey + R"("})";
  EXPECT_EQ(redacted(secrets_only(), hidden), parse_json(hidden).value());
  EXPECT_NE(redacted(secrets_only(), R"({"type":"text","data":")" + kAccessKey + R"("})"),
            parse_json(R"({"type":"text","data":")" + kAccessKey + R"("})").value());
}

TEST(Redaction, JsonTextWithoutAFindKeepsItsBytes) {
  const std::string odd = R"({ "b" : 1.50,  "a":"é" })";
  EXPECT_EQ(secrets_only().json_text(odd), odd);
  EXPECT_EQ(secrets_only().json_text(R"({ "a" : ")" + kAccessKey + R"("})"),
            R"({"a":"[REDACTED:aws-access-key]"})");
  EXPECT_EQ(secrets_only().json_text("{\"a\": \"" + kAccessKey), "{\"a\": \"[REDACTED:aws-access-key]");
}

TEST(Redaction, StreamFindsConfiguredKeysAndSecretsWhereverItIsCut) {
  const Redaction both = secrets_only(configured());
  const std::string text = "one " + kConfigured + " two " + kAccessKey + " three";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const auto stream = both.stream();
    std::string out = stream->push(text.substr(0, cut));
    out += stream->push(text.substr(cut));
    out += stream->finish();
    EXPECT_EQ(out, "one [key] two [REDACTED:aws-access-key] three") << "cut at " << cut;
  }
}

TEST(Redaction, CanariesAreFoundInEachOfTheirForms) {
  const std::vector<Canary> all = canaries();
  EXPECT_GE(all.size(), 150U);
  const Redaction redaction = secrets_only();
  std::string text;
  for (const Canary& each : all) {
    text += redaction.text("plain " + each.secret + " and") + redaction.text("?q=" + each.url + "&") +
            redaction.text("{\"a\":\"" + each.json + "\"}") + redaction.text("b: " + each.base64 + ".");
  }
  EXPECT_EQ(escaped_from(text, all), std::vector<std::string>());
}

TEST(RedactRulesForm, JsonIsReadAsWritten) {
  RedactRules rules;
  EXPECT_EQ(to_json(rules), parse_json("{}").value());
  rules.events = RedactLevel::kStrict;
  rules.exports = RedactLevel::kOff;
  rules.personal = true;
  EXPECT_EQ(redact_rules_from_json(to_json(rules)).value(), rules);
  for (const auto& [text, why] : {std::pair{R"({"event":"off"})", "has exports, events"},
                                  std::pair{R"({"events":"none"})", "policy.redact.events must be"},
                                  std::pair{R"({"personal":1})", "policy.redact.personal must be"},
                                  std::pair{"[]", "must be a table"}}) {
    const auto read = redact_rules_from_json(parse_json(text).value());
    ASSERT_FALSE(read) << text;
    EXPECT_TRUE(read.error().message.contains(why)) << read.error().message;
  }
}

TEST(RedactRulesForm, StricterLevelWinsAndDefaultIsNotTurnedOffBelow) {
  const RedactRules off{.exports = RedactLevel::kOff}, strict{.exports = RedactLevel::kStrict};
  EXPECT_EQ(stricter(off, strict), strict);
  EXPECT_EQ(stricter({}, off), off);
  EXPECT_EQ(narrowed({}, off), RedactRules{});
  EXPECT_EQ(narrowed(off, off), off);
  EXPECT_EQ(narrowed(off, strict), strict);
  EXPECT_TRUE(stricter({.personal = true}, {}).personal);
}

}  // namespace
}  // namespace praxis::redact
