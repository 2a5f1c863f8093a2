#include "praxis/json/json.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "praxis/base/environment.hpp"

namespace praxis {
namespace {

Json parsed(std::string_view text) {
  auto json = parse_json(text);
  if (!json) ADD_FAILURE() << text << ": " << json.error().message;
  return json.value_or(nullptr);
}

std::string parse_error(std::string_view text, const JsonLimits& limits = {}) {
  const auto json = parse_json(text, limits);
  if (json) return "no error";
  EXPECT_EQ(json.error().code, ErrorCode::kInput);
  return json.error().message;
}

// The completed form of a truncated text; "nothing" if it is not a prefix of JSON.
std::string completed(std::string_view prefix) {
  const auto json = parse_partial_json(prefix);
  return json ? to_json_text(*json) : "nothing";
}

TEST(JsonWriter, TextRoundTripsInInsertionOrder) {
  const std::string text =
      R"({"z":[1,-2,18446744073709551615,0.1,true,false,null,[],{}],"a":"\"\\\b\f\n\r\t\u0001€😀","":{"x":""}})";
  EXPECT_EQ(to_json_text(parsed(text)), text);
}

TEST(JsonWriter, PlainTextOfAString_IsItsContents) {
  EXPECT_EQ(to_plain_text("a \"word\""), "a \"word\"");
  EXPECT_EQ(to_plain_text(parsed(R"({"a":[1,null]})")), R"({"a":[1,null]})");
}

TEST(JsonWriter, RandomDoublesReadBackExactly) {
  const auto environment = fixed_environment(7);
  for (int i = 0; i < 20'000; ++i) {
    const auto number = std::bit_cast<double>(environment->random());
    if (!std::isfinite(number)) continue;
    const std::string text = to_json_text(number);
    ASSERT_EQ(parsed(text).to_number<double>(), number) << text;
  }
}

TEST(JsonWriter, Numbers_HaveTheFormOfRfc8785) {
  const std::pair<std::uint64_t, std::string> samples[] = {
      {0x0000000000000000, "0"},
      {0x8000000000000000, "0"},
      {0x0000000000000001, "5e-324"},
      {0x8000000000000001, "-5e-324"},
      {0x7fefffffffffffff, "1.7976931348623157e+308"},
      {0x4340000000000000, "9007199254740992"},
      {0x4430000000000000, "295147905179352830000"},
      {0x44b52d02c7e14af5, "9.999999999999997e+22"},
      {0x44b52d02c7e14af6, "1e+23"},
      {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
      {0x444b1ae4d6e2ef4e, "999999999999999700000"},
      {0x444b1ae4d6e2ef50, "1e+21"},
      {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
      {0x3eb0c6f7a0b5ed8d, "0.000001"},
      {0x41b3de4355555555, "333333333.3333333"},
      {0xbecbf647612f3696, "-0.0000033333333333333333"},
      {0x43143ff3c1cb0959, "1424953923781206.2"},
  };
  for (const auto& [bits, text] : samples) EXPECT_EQ(to_json_text(std::bit_cast<double>(bits)), text);
  EXPECT_EQ(to_json_text(1.0), "1");
  EXPECT_EQ(to_json_text(std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonWriter, InvalidUtf8InStringsAndKeysIsRepaired) {
  EXPECT_EQ(to_json_text(Json{{"a\xFF", "long enough for words \xE2\x82 and on\n"}}),
            "{\"a\uFFFD\":\"long enough for words \uFFFD and on\\n\"}");
}

// Puts every byte at every offset within a word, so that the fast path and the slow path must agree.
TEST(JsonWriter, Escapes_AreFoundAtEveryOffset) {
  for (std::size_t at = 0; at < 17; ++at) {
    for (int byte = 0; byte < 0x80; ++byte) {
      std::string text(17, 'x');
      text[at] = static_cast<char>(byte);
      ASSERT_EQ(parsed(to_json_text(Json(text))).as_string(), text) << at << " " << byte;
    }
  }
}

TEST(CanonicalJson, MatchesTheExamplesOfRfc8785) {
  EXPECT_EQ(to_canonical_json(parsed(R"({
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  })")),
            R"({"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],)"
            R"("string":"€$\u000f\nA'B\"\\\\\"/"})");
  EXPECT_EQ(to_canonical_json(
                parsed(R"({"\u20ac":5,"\r":1,"\ufb33":7,"1":2,"\ud83d\ude00":6,"\u0080":3,"\u00f6":4})")),
            "{\"\\r\":1,\"1\":2,\"\u0080\":3,\"ö\":4,\"€\":5,\"😀\":6,\"\uFB33\":7}");
}

TEST(CanonicalJson, InsertionOrder_MakesNoDifference) {
  EXPECT_EQ(to_canonical_json(parsed(R"({"b":{"y":1.0,"x":2},"a":0,"ab":1})")),
            to_canonical_json(parsed(R"({"ab":1,"a":0,"b":{"x":2,"y":1}})")));
}

TEST(JsonReader, ErrorsNameLineAndColumn) {
  EXPECT_EQ(parse_error("[1,\n  2,\n x]"), "invalid JSON at line 3, column 2: unexpected 'x'");
  EXPECT_EQ(parse_error("{\"a\": 1} 2"), "invalid JSON at line 1, column 10: unexpected '2'");
  EXPECT_EQ(parse_error("{\"a\":"), "invalid JSON at line 1, column 6: the text ends too early");
  EXPECT_EQ(parse_error(""), "invalid JSON at line 1, column 1: the text ends too early");
  EXPECT_EQ(parse_error("1e400"), "invalid JSON at line 1, column 6: number out of range");
}

TEST(JsonReader, RefusesWhatRfc8259DoesNotAllow) {
  for (const char* text : {"01", "+1", ".5", "1.", "'a'", "[1,]", "{\"a\":1,}", "{a:1}", "NaN", "\"\t\"",
                           "// c\n1", "\"\\x\"", "\"\\ud800\"", "\xEF\xBB\xBF{}", "tru", "nulll", "[1 2]"}) {
    EXPECT_NE(parse_error(text), "no error") << text;
  }
}

TEST(JsonReader, RefusesInvalidUtf8) {
  for (const char* bytes :
       {"\xFF", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
    EXPECT_NE(parse_error("[\"" + std::string(bytes) + "\"]").find("invalid UTF-8"), std::string::npos);
    EXPECT_NE(parse_error("{\"" + std::string(bytes) + "\":1}").find("invalid UTF-8"), std::string::npos);
  }
}

TEST(JsonReader, DepthAndLengthAreBounded) {
  const auto nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_TRUE(parse_json(nested(64)));
  EXPECT_EQ(parse_error(nested(65)), "invalid JSON at line 1, column 65: nested deeper than 64 levels");
  EXPECT_NE(parse_error(std::string(1'000'000, '[')), "no error");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_NE(parse_error(objects), "no error");
  EXPECT_EQ(parse_error("[1,2,3]", {.max_bytes = 6}), "JSON text of 7 bytes is longer than the limit of 6");
}

TEST(JsonReader, NumbersThatUnderflow_BecomeZero) {
  EXPECT_EQ(to_json_text(parsed("[1e-400,-1e-400]")), "[0,0]");
}

TEST(PartialJson, EveryPrefixOfASample_IsCompleted) {
  const std::string sample =
      R"({"a":[1,2.5e3,true,null,{"x":"hé\n\u20ac\ud83d\ude00\\"}],"b":-1.5,"c":{"d":[[],""]}} )";
  EXPECT_EQ(completed(""), "nothing");
  std::size_t shown = 0;
  for (std::size_t size = 1; size <= sample.size(); ++size) {
    const std::string text = completed(sample.substr(0, size));
    EXPECT_NE(text, "nothing") << sample.substr(0, size);
    EXPECT_TRUE(is_valid_utf8(text));
    EXPECT_GE(text.size() + 6, shown) << "lost something at " << sample.substr(0, size);
    shown = text.size();
  }
  EXPECT_EQ(completed(sample), to_json_text(parsed(sample)));
}

TEST(PartialJson, OpenParts_AreClosedAndDanglingKeysDropped) {
  EXPECT_EQ(completed(R"({"a":1,"b)"), R"({"a":1})");
  EXPECT_EQ(completed(R"({"a":1,"b":)"), R"({"a":1})");
  EXPECT_EQ(completed(R"({"a":"x\)"), R"({"a":"x"})");
  EXPECT_EQ(completed(R"({"a":"x\u00e)"), R"({"a":"x"})");
  EXPECT_EQ(completed(R"({"a":"x\ud83d)"), R"({"a":"x"})");
  EXPECT_EQ(completed("[\"x\xE2\x82"), R"(["x"])");
  EXPECT_EQ(completed("[1,2.5e"), "[1,2.5]");
  EXPECT_EQ(completed("[1,-"), "[1]");
  EXPECT_EQ(completed("[true,fal"), "[true]");
  EXPECT_EQ(completed("[[{\"a\":[1"), "[[{\"a\":[1]}]]");
}

TEST(PartialJson, TextThatIsNoPrefixOfJson_GivesNothing) {
  for (const char* text : {"", " ", "hello", "]", "{]", "[1 2", "{\"a\" 1", "\"\xFFz", "tr", "@"}) {
    EXPECT_EQ(completed(text), "nothing") << text;
  }
  EXPECT_EQ(completed(std::string(100'000, '[')), "nothing");
}

TEST(Utf8, RepairReplacesEachMaximalInvalidPrefix) {
  EXPECT_EQ(repair_utf8("plain ascii, long enough"), "plain ascii, long enough");
  EXPECT_EQ(repair_utf8("é€😀"), "é€😀");
  EXPECT_EQ(repair_utf8("\xF1\x80\x80\xE1\x80\xC2z"), "\uFFFD\uFFFD\uFFFDz");
  EXPECT_EQ(repair_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(repair_utf8("\xC0\xAF|\xF4\x90|\xFF|\x80"), "\uFFFD\uFFFD|\uFFFD\uFFFD|\uFFFD|\uFFFD");
  EXPECT_EQ(repair_utf8("12345678\xE2\x82"), "12345678\uFFFD");
}

TEST(Utf8, HeadIsCutBetweenCharacters) {
  EXPECT_EQ(utf8_head("short", 80), "short");
  EXPECT_EQ(utf8_head("aé€", 6), "aé€");
  EXPECT_EQ(utf8_head("aé€", 5), "aé");
  EXPECT_EQ(utf8_head("aé€", 2), "a");
  EXPECT_EQ(utf8_head("€", 2), "");
  EXPECT_EQ(utf8_head("", 0), "");
}

TEST(Utf8, ValidityFollowsTheStandardsTable) {
  for (const char* good : {"", "a", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEF\xBF\xBF",
                           "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_valid_utf8(good)) << good;
    EXPECT_TRUE(is_valid_utf8("1234567" + std::string(good) + "12345678"));
  }
  for (const char* bad : {"\x80", "\xC1\xBF", "\xC2", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE1\x80"}) {
    EXPECT_FALSE(is_valid_utf8(bad)) << bad;
    EXPECT_FALSE(is_valid_utf8("12345678" + std::string(bad) + "12345678"));
  }
}

TEST(JsonAccess, WrongTypesAndMissingKeys_GiveTheFallback) {
  const Json value = parsed(R"({"s":"x","i":3,"whole":4.0,"d":2.5,"b":true})");
  EXPECT_EQ(json_string(value, "s"), "x");
  EXPECT_EQ(json_string(value, "i", "none"), "none");
  EXPECT_EQ(json_int(value, "i"), 3);
  EXPECT_EQ(json_int(value, "whole"), 4);
  EXPECT_EQ(json_int(value, "d", -1), -1);
  EXPECT_EQ(json_double(value, "d"), 2.5);
  EXPECT_EQ(json_double(value, "i"), 3.0);
  EXPECT_TRUE(json_bool(value, "b"));
  EXPECT_TRUE(json_at(value, "missing").is_null());
  EXPECT_TRUE(json_at(Json(1), "missing").is_null());
  EXPECT_EQ(json_int(Json("no object"), "i", 7), 7);
}

}  // namespace
}  // namespace praxis
