// The pure parts: filters, words, stems and ranking.
#include "memory/words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/ranking.hpp"
#include "praxis/memory/filter.hpp"

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

bool matches(std::string_view filter, std::string_view value) {
  return Filter::parse(parse_json(filter).value()).value().matches(parse_json(value).value());
}

TEST(Filter, Operators_CompareMembers) {
  EXPECT_TRUE(matches("null", "1"));
  EXPECT_TRUE(matches("{}", "1"));
  EXPECT_TRUE(matches(R"({"eq": ["a", 1]})", R"({"a": 1.0})"));
  EXPECT_FALSE(matches(R"({"eq": ["a", 1]})", R"({"a": "1"})"));
  EXPECT_FALSE(matches(R"({"eq": ["a", null]})", "{}"));
  EXPECT_TRUE(matches(R"({"ne": ["a", 1]})", "{}"));
  EXPECT_FALSE(matches(R"({"ne": ["a", 1]})", R"({"a": 1})"));
  EXPECT_TRUE(matches(R"({"eq": [["a", "b.c"], true]})", R"({"a": {"b.c": true}})"));
  EXPECT_FALSE(matches(R"({"eq": ["a.b", true]})", R"({"a": {"b": true}})")) << "a name is a name";
  EXPECT_TRUE(matches(R"({"in": ["a", [1, "x"]]})", R"({"a": "x"})"));
  EXPECT_FALSE(matches(R"({"in": ["a", []]})", R"({"a": "x"})"));
  EXPECT_TRUE(matches(R"({"exists": "a"})", R"({"a": null})"));
  EXPECT_FALSE(matches(R"({"exists": ["a", "b"]})", R"({"a": 1})"));
}

TEST(Filter, Lt_ComparesNumbersByValueAndStringsByBytes) {
  const auto less = [](std::string_view a, std::string_view b) {
    return matches(R"({"lt": ["a", )" + std::string(b) + "]}", R"({"a": )" + std::string(a) + "}");
  };
  EXPECT_TRUE(less("-1", "18446744073709551615"));
  EXPECT_TRUE(less("-2", "-1"));
  EXPECT_FALSE(less("-1", "-2"));
  EXPECT_FALSE(less("1", "-2"));
  EXPECT_TRUE(less("1", "1.5"));
  EXPECT_FALSE(less("2", "2"));
  EXPECT_TRUE(less(R"("Z")", R"("a")"));
  EXPECT_FALSE(less(R"("1")", "2"));
  EXPECT_FALSE(less("true", "2"));
}

TEST(Filter, Parts_AreCombined) {
  constexpr std::string_view kFilter =
      R"({"and": [{"not": {"eq": ["a", 1]}}, {"or": [{"eq": ["b", 1]}, {"eq": ["b", 2]}]}]})";
  EXPECT_TRUE(matches(kFilter, R"({"a": 2, "b": 2})"));
  EXPECT_FALSE(matches(kFilter, R"({"a": 1, "b": 2})"));
  EXPECT_FALSE(matches(kFilter, R"({"a": 2, "b": 3})"));
  EXPECT_FALSE(matches(R"({"or": []})", "1"));
  EXPECT_TRUE(matches(R"({"and": []})", "1"));
}

TEST(Filter, Mistakes_AreNamed) {
  const auto message = [](const Json& json) { return Filter::parse(json).error().message; };
  EXPECT_THAT(message({{"like", {"a", "b"}}}), HasSubstr("no operator \"like\"; it has these: eq, ne"));
  EXPECT_THAT(message("a = 1"), HasSubstr("exactly one of"));
  EXPECT_THAT(message({{"eq", "a"}}), HasSubstr("takes [PATH, VALUE]"));
  EXPECT_THAT(message({{"in", {"a", 1}}}), HasSubstr("takes [PATH, [VALUE, ...]]"));
  EXPECT_THAT(message({{"and", {{{"eq", {1, 2}}}}}}), HasSubstr("takes [PATH, VALUE]"));
  Json deep{{"exists", "a"}};
  for (int i = 0; i < 20; ++i) deep = Json{{"not", deep}};
  EXPECT_THAT(message(deep), HasSubstr("too large"));
  JsonArray wide(300, Json{{"exists", "a"}});
  EXPECT_THAT(message({{"or", wide}}), HasSubstr("too large"));
}

TEST(Words, StemsAreThoseOfPorter) {
  for (const auto& [word, stem] : std::initializer_list<std::pair<std::string, std::string>>{
           {"caresses", "caress"},   {"ponies", "poni"},
           {"cats", "cat"},          {"feed", "feed"},
           {"agreed", "agre"},       {"plastered", "plaster"},
           {"motoring", "motor"},    {"sing", "sing"},
           {"conflated", "conflat"}, {"hopping", "hop"},
           {"falling", "fall"},      {"filing", "file"},
           {"happy", "happi"},       {"sky", "sky"},
           {"relational", "relat"},  {"rational", "ration"},
           {"digitizer", "digit"},   {"operator", "oper"},
           {"hopefulness", "hope"},  {"electrical", "electr"},
           {"adoption", "adopt"},    {"generalizations", "gener"},
           {"oscillators", "oscil"}, {"controll", "control"},
           {"probate", "probat"},    {"rate", "rate"},
           {"cease", "ceas"},        {"is", "is"}}) {
    EXPECT_EQ(stem_of(word), stem) << word;
  }
}

TEST(Words, AreRunsOfLettersAndDigits) {
  EXPECT_THAT(query_words(std::string("It's A-1\0b, über… It \xFF!", 24)), ElementsAre("1", "b", "über"))
      << "without function words";
  EXPECT_THAT(query_words("The Who? The who"), ElementsAre("the", "who")) << "unless there is nothing else";
  EXPECT_EQ(query_words(std::string(100'000, 'x') + " end").size(), 1U);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "w" + std::to_string(i) + ' ';
  EXPECT_EQ(query_words(many).size(), kMaxQueryWords);
  EXPECT_TRUE(has_pieces("äöü"));
  EXPECT_FALSE(has_pieces("äö"));
  EXPECT_EQ(searchable_text("k", {{"a", "x"}, {"b", {1, "y"}}}), "k\nx\ny");
}

TEST(Ranking, FusesByReciprocalRank) {
  const std::vector<Scored> found{{1, 5.0, std::nullopt}, {2, 4.0, 9.0}, {3, std::nullopt, 8.0}};
  const auto order = fuse(found, 10);
  ASSERT_EQ(order.size(), 3U);
  EXPECT_EQ(order[0].index, 1U) << "good in both";
  EXPECT_EQ(order[1].index, 0U) << "whole words weigh more than parts";
  EXPECT_EQ(order[0].words_rank, 2U);
  EXPECT_EQ(order[0].pieces_rank, 1U);
  EXPECT_EQ(order[0].recency_rank, 2U);
  EXPECT_DOUBLE_EQ(order[0].score, 1.0 / 62 + 0.5 / 61 + 0.02 / 62);
  EXPECT_EQ(fuse(found, 1).size(), 1U);
}

TEST(Ranking, EqualsShareARankSoThatTheNewerComesFirst) {
  const std::vector<Scored> found{{1, 2.0, {}}, {2, 2.0, {}}, {3, 1.0, {}}};
  const auto order = fuse(found, 10);
  EXPECT_EQ(order[0].index, 1U);
  EXPECT_EQ(order[1].words_rank, 1U);
  EXPECT_EQ(order[2].words_rank, 3U);
}

TEST(Ranking, Bm25_PrefersRareTermsAndShortTexts) {
  const std::vector<TermCount> rare{{1, rarity(100, 1)}}, common{{1, rarity(100, 40)}},
      twice{{2, rarity(100, 1)}};
  EXPECT_GT(bm25(rare, 10, 10), bm25(common, 10, 10));
  EXPECT_GT(bm25(twice, 10, 10), bm25(rare, 10, 10));
  EXPECT_GT(bm25(rare, 5, 10), bm25(rare, 20, 10));
  EXPECT_GT(bm25(std::vector<TermCount>{{1, rarity(100, 90)}}, 10, 10), 0);
}

}  // namespace
}  // namespace praxis
