#include "json/series.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace praxis {
namespace {

/// The value or error that was read.
std::string told(const Result<Json>& read) { return read ? to_json_text(*read) : read.error().message; }

/// What a series returns for the last of `texts`, after it has read each of the earlier ones twice (it learns
/// a shape from two equal texts).
std::string last_of(const std::vector<std::string>& texts) {
  JsonSeries series;
  for (std::size_t i = 0; i + 1 < texts.size(); ++i) {
    static_cast<void>(series.parse(texts[i]));
    static_cast<void>(series.parse(texts[i]));
  }
  const auto last = series.parse(texts.back());
  return last ? told(**last) : last.error().message;
}

void expect_as_parsed(const std::vector<std::string>& texts) {
  ASSERT_EQ(last_of(texts), told(parse_json(texts.back())))
      << testing::PrintToString(texts.front()) << " before " << testing::PrintToString(texts.back());
}

std::string chunk(std::string_view text, std::string_view number) {
  return R"({"id":"c1","list":[{"n":)" + std::string(number) + R"(,"text":")" + std::string(text) +
         R"("}],"none":null,"seq":7})";
}

const std::vector<std::string> kChunkTexts{"",
                                           "a",
                                           "ab",
                                           "one and two",
                                           "a text that is longer than any of the others",
                                           R"(\n)",
                                           R"(a\"b)",
                                           R"(\\)",
                                           R"(caf\u00e9)",
                                           R"(\ud83d\ude00)",
                                           R"(\ud83d)",
                                           R"(\ude00 alone)",
                                           R"(\u12)",
                                           R"(\x)",
                                           R"(","n":9,"text":")",
                                           "k\xC3\xA4se",
                                           "\xE2\x82",
                                           "\xFF",
                                           "a\tb",
                                           "a\x01",
                                           "a\x85 and what follows",
                                           "and controls\x1F far behind",
                                           "a\x7F",
                                           R"(})"};

const std::vector<std::string> kChunkNumbers{"0",
                                             "12",
                                             "123456789012345",
                                             "1234567890123456",
                                             "12345678901234567890",
                                             "-1",
                                             "-0",
                                             "01",
                                             "00",
                                             "1.5",
                                             "1e3",
                                             "1e400",
                                             "",
                                             "1 ",
                                             " 1",
                                             "true",
                                             "null",
                                             R"("1")",
                                             "[1]",
                                             "{}",
                                             "1,\"m\":2"};

const std::vector<std::string> kOtherTexts{
    R"({"list":[{"n":1,"text":"a"}],"id":"c1","none":null,"seq":7})",
    R"({"id":"c1","list":[{"text":"a","n":1}],"none":null,"seq":7})",
    R"({"id":"c1","list":[{"n":1,"text":"a"},{"n":2,"text":"b"}],"none":null,"seq":7})",
    R"({"id":"c1","list":[],"none":null,"seq":7})",
    R"({ "id": "c1", "list": [ { "n": 1, "text": "a" } ], "none": null, "seq": 7 })",
    R"({"id":"c1","list":[{"n":1,"text":"a"}],"none":null,"seq":7,"more":{}})",
    R"({"id":"c1","list":[{"n":1,"te\u0078t":"a"}],"none":null,"seq":7})",
    R"({"id":"c1","list":[{"n":1,"text":"a"}],"none":null,"id":"c2"})",
    R"({"id":"c1","list":[{"n":1,"text":"a"}],"id":{"n":1}})",
    R"({"t":"a"})",
    R"({"t":"abcdefgh","t":"b"})",
    R"({"a":1,"a":2})",
    R"({"a":9,"a":2})",
    R"([{"a":"x},5]","a":7},8])",
    R"([{"a":"x},6]","a":7},8])",
    R"({"}":5,"}":"t"})",
    R"({"}":5 ,"}":"t"})",
    R"([{"}]":5,"}]":"t"}])",
    R"({"a":{"b":1},"a":{"b":2},"c":3})",
    chunk("a", "1") + "\n",
    chunk("a", "1") + "x",
    chunk("a", "1") + chunk("a", "1"),
    chunk("a", "1").substr(0, 40),
    "",
    " ",
    "5",
    "57",
    "5.5",
    "null",
    R"("a")",
    R"("ab")",
    R"("a)",
    "[1,2]",
    "[1,23]",
    "[1,2,3]",
    R"(["a","b"])",
    R"(["ab",""])"};

TEST(JsonSeries, AnyTextAfterAnyOther_GivesTheResultOfTheParser) {
  std::vector<std::string> texts = kOtherTexts;
  for (const std::string& text : kChunkTexts) texts.push_back(chunk(text, "1"));
  for (const std::string& number : kChunkNumbers) texts.push_back(chunk("a", number));
  for (const std::string& first : texts) {
    for (const std::string& second : texts) {
      expect_as_parsed({first, second});
      expect_as_parsed({first, second, first});
    }
  }
}

TEST(JsonSeries, TextWithAChangedByte_GivesTheResultOfTheParser) {
  const std::string base = chunk(R"(some \u00e9 text)", "12");
  for (std::size_t at = 0; at < base.size(); ++at) {
    for (const char byte : std::string_view("\0\t \n\"\\,:[]{}-+.0a9eu\x7F\xC3\xFF", 23)) {
      std::string changed = base, longer = base;
      changed[at] = byte;
      longer.insert(at, 1, byte);
      expect_as_parsed({base, changed, base});
      expect_as_parsed({base, changed});
      expect_as_parsed({base, longer});
      expect_as_parsed({longer, base});
    }
    expect_as_parsed({base, base.substr(0, at)});
    expect_as_parsed({base, std::string(base).erase(at, 1)});
  }
}

TEST(JsonSeries, ChangesOfLength_MoveLaterSlots) {
  JsonSeries series;
  for (const char* first : {"a", "", "a longer one", "b"}) {
    for (const int number : {1, 1000, 22}) {
      for (const char* last : {"c", "longer", "", "d"}) {
        const Json expected = JsonObject{{"a", first}, {"n", number}, {"list", JsonArray{last, "same", 5}}};
        const auto read = series.parse(to_json_text(expected));
        ASSERT_TRUE(read);
        EXPECT_EQ(**read, expected);
      }
    }
  }
}

TEST(JsonSeries, StringsAndSmallIntegers_AreReplacedInPlace) {
  struct Step {
    std::string text;
    bool in_place;
  };
  const std::vector<Step> steps{{chunk("a", "1"), false},
                                {chunk("a", "1"), false},  // the second of its shape: learned
                                {chunk("b", "1"), true},
                                {chunk("much longer than before", "123456789012345"), true},
                                {chunk("", "0"), true},
                                {chunk(R"(caf\u00e9 \"\ud83d\ude00\")", "7"), true},
                                {chunk("k\xC3\xA4se", "7"), true},
                                {chunk("a", "7"), true},
                                {chunk("a", "77777"), true},
                                {chunk("b", "77777"), true},
                                {chunk("bc", "7"), true},
                                {chunk("a", "7.5"), false},
                                {chunk("b", "7.5"), false},
                                {chunk("c", "7.5"), true},
                                {chunk("b", "-1"), false},
                                {chunk("b", "null"), false},
                                {chunk("b", "1") + " ", false}};
  JsonSeries series;
  const Json* last = nullptr;
  for (const Step& step : steps) {
    const auto read = series.parse(step.text);
    ASSERT_TRUE(read) << step.text;
    EXPECT_EQ(told(**read), told(parse_json(step.text)));
    const Json* list = &json_at(**read, "list");
    EXPECT_EQ(list == last, step.in_place) << step.text;
    last = list;
  }
}

TEST(JsonSeries, ChangedOnly_ComparesWithTheLastText) {
  JsonSeries series;
  const auto changes = [&](std::string_view text, std::string_view number,
                           std::vector<std::string_view> names) {
    const Json& value = **series.parse(chunk(text, number));
    const Json& item = json_at(value, "list").get_array().front();
    std::vector<const Json*> expected;
    for (const std::string_view name : names) expected.push_back(&json_at(item, name));
    return series.changed_only(expected);
  };
  EXPECT_FALSE(changes("a", "1", {"text", "n"})) << "the first text has no predecessor";
  EXPECT_FALSE(changes("a", "1", {"text", "n"})) << "a shape is learned from the second text on";
  EXPECT_TRUE(changes("a", "1", {}));
  EXPECT_TRUE(changes("b", "1", {"text"}));
  EXPECT_FALSE(changes("c", "1", {"n"}));
  EXPECT_FALSE(changes("d", "2", {"text"}));
  EXPECT_TRUE(changes("e", "3", {"text", "n"}));
  EXPECT_FALSE(changes("e", "3.5", {"text", "n"})) << "it was parsed again";
}

TEST(JsonSeries, LongText_IsRead) {
  const std::string text(200'000, 'x');
  expect_as_parsed({chunk("a", "1"), chunk(text, "1"), chunk("b", "1")});
  expect_as_parsed({chunk(text, "1"), chunk(text + "y", "1")});
}

TEST(JsonSeries, TextThatDoesNotFit_ChangesNothing) {
  JsonSeries series;
  ASSERT_TRUE(series.parse(chunk("a", "1")));
  ASSERT_TRUE(series.parse(chunk("a", "1")));
  for (const std::string& text : kOtherTexts) {
    if (series.adapt(text)) continue;
    EXPECT_EQ(told(series.value()), told(parse_json(chunk("a", "1")))) << text;
  }
  EXPECT_FALSE(series.adapt(chunk("b", "1.5"))) << "the number after the text needs the parser";
  EXPECT_EQ(told(series.value()), told(parse_json(chunk("a", "1"))));
}

TEST(JsonShapes, AnyOrderOfTexts_GivesTheResultOfTheParser) {
  std::vector<std::string> texts = kOtherTexts;
  for (const std::string& text : kChunkTexts) texts.push_back(chunk(text, "1"));
  for (const std::string& number : kChunkNumbers) texts.push_back(chunk("a", number));
  JsonShapes shapes;
  for (std::size_t step = 1; step < texts.size(); ++step) {  // each step visits the texts in another order
    for (std::size_t i = 0, at = step; i < texts.size(); ++i, at = (at + step) % texts.size()) {
      const auto read = shapes.parse(texts[at]);
      ASSERT_EQ(read ? told(**read) : read.error().message, told(parse_json(texts[at]))) << texts[at];
    }
  }
}

TEST(JsonShapes, ShapesThatAlternate_AreReplacedInPlace) {
  JsonShapes shapes;
  std::vector<const Json*> seen;
  for (const char* text : {"a", "b", "c", "d"}) {
    for (const std::string& next : {chunk(text, "1"), to_json_text(JsonObject{{"t", text}})}) {
      const auto read = shapes.parse(next);
      ASSERT_TRUE(read);
      EXPECT_EQ(told(**read), next);
      const bool is_list = json_at(**read, "list").is_array();
      seen.push_back(is_list ? &json_at(**read, "list") : &json_at(**read, "t"));
    }
  }
  // The second text of a shape is parsed and learned; every later one is read in place.
  EXPECT_EQ(seen[4], seen[2]);
  EXPECT_EQ(seen[6], seen[2]);
  EXPECT_EQ(seen[5], seen[3]);
  EXPECT_EQ(seen[7], seen[3]);
}

}  // namespace
}  // namespace praxis
