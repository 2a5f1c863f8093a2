#include "app/values.hpp"

#include <gtest/gtest.h>

namespace praxis::app {
namespace {

using namespace std::chrono_literals;

TEST(Values, MoneyIsAPositiveFiniteNumber) {
  EXPECT_EQ(parse_usd("0.5"), MicroUsd{500'000});
  EXPECT_EQ(parse_usd("2"), MicroUsd{2'000'000});
  for (const char* wrong : {"", "0", "-1", "$1", "1 ", "nan", "inf", "1e9", "10000000"}) {
    EXPECT_FALSE(parse_usd(wrong)) << wrong;
  }
}

TEST(Values, AssignmentsSplitAtTheFirstEqualsSign) {
  const auto answer = parse_assignment("p1=a=b");
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, std::pair(std::string("p1"), std::string("a=b")));
  EXPECT_FALSE(parse_assignment("p1"));
  EXPECT_FALSE(parse_assignment("=text"));
}

TEST(Values, AreFormattedForUsers) {
  EXPECT_EQ(show_duration(12ms), "12 ms");
  EXPECT_EQ(show_duration(1500ms), "1.5 s");
  EXPECT_EQ(show_duration(125s), "2 min 5 s");
  EXPECT_EQ(show_usd({}), "$0");
  EXPECT_EQ(show_usd({1200}), "$0.0012");
  EXPECT_EQ(show_usd({12'340'000}), "$12.34");
  EXPECT_EQ(show_age(59s), "59 s");
  EXPECT_EQ(show_age(90s), "1 min");
  EXPECT_EQ(show_age(std::chrono::hours{47}), "47 h");
  EXPECT_EQ(show_age(std::chrono::hours{49}), "2 d");
  EXPECT_EQ(show_usage({}), "0 tokens, $0");
  EXPECT_EQ(show_usage({.input = 300, .output = 40, .cost = {1200}}), "340 tokens, $0.0012");
  EXPECT_EQ(show_usage({.input = 300, .cost = {1200}, .estimated = true}), "~300 tokens, ~$0.0012");
  EXPECT_EQ(show_usage({.input = 300}), "300 tokens, $?") << "an unknown price is not $0";
}

TEST(Values, ShellWordsAreQuotedWhenTheyMustBe) {
  EXPECT_EQ(shell_word("/tmp/j.db"), "/tmp/j.db");
  EXPECT_EQ(shell_word("my runs"), "'my runs'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace praxis::app
