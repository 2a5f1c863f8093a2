// The bounds of filters: of text, of matches, and of what can be read.
#include "policy/filters.hpp"

#include <gtest/gtest.h>

#include <string>

namespace praxis::filters {
namespace {

/// A set with one filter of words that begin with "x", at all points that can do `action`.
FilterSet set_with(std::string_view action, std::string_view at,
                   std::string_view test = R"("matches": "x[a-z]*")") {
  AgentSpec agent;
  agent.policy = parse_json(R"({"filters": [{"id": "x", "at": ")" + std::string(at) + R"(", "action": ")" +
                            std::string(action) + "\", " + std::string(test) + "}]}")
                     .value();
  return FilterSet(agent);
}

TEST(Filters, TextBeyondTheBound_IsDeniedUnread) {
  const FilterSet set = set_with("redact", "tool_output");
  Scan scan(set, Point::kToolOutput, "t");
  std::string text(kMostBytes, 'a');
  scan.text(text);
  EXPECT_FALSE(scan.denies());
  std::string more = "b";
  scan.text(more);
  ASSERT_TRUE(scan.denies()) << "the bound holds for all texts together";
  EXPECT_NE(scan.why("withholds", "it").find("more than 16 MiB"), std::string::npos);
  EXPECT_EQ(scan.by(), "deny x");
}

TEST(Filters, WhatFollowsTooManyMatches_IsLeftOut) {
  const FilterSet set = set_with("redact", "tool_output", R"("matches": "xa")");
  Scan scan(set, Point::kToolOutput, "t");
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "xa ";
  text += "the end";
  EXPECT_TRUE(scan.text(text));
  EXPECT_EQ(text.find("xa"), std::string::npos);
  EXPECT_EQ(text.find("the end"), std::string::npos);
}

TEST(Filters, NestedPatterns_TakeTimeOfTheTextAlone) {
  const FilterSet set = set_with("deny", "tool_output", R"("matches": "(a+)+$")");
  Scan scan(set, Point::kToolOutput, "t");
  std::string text(1'000'000, 'a');
  text += '!';
  scan.text(text);
  EXPECT_FALSE(scan.denies()) << "an engine that goes back would not get here";
}

TEST(Filters, RedactedValue_KeepsItsShape) {
  const FilterSet set = set_with("redact", "memory");
  Scan scan(set, Point::kMemory, "remember");
  std::string text = R"({"xkey": [1, true, null, "axe xylophone"], "n": 2.5})";
  EXPECT_TRUE(scan.json_text(text));
  EXPECT_EQ(text, R"({"[REDACTED:x]":[1,true,null,"a[REDACTED:x] [REDACTED:x]"],"n":2.5})");
  std::string untouched = R"({ "n" : 1.50 })";
  EXPECT_FALSE(scan.json_text(untouched));
  EXPECT_EQ(untouched, R"({ "n" : 1.50 })") << "every byte stays where no filter finds anything";
}

TEST(Filters, MediaWithoutAType_CountsAsAnyType) {
  const FilterSet set = set_with("deny", "model", R"("media_type": "image/*")");
  EXPECT_FALSE(Scan(set, Point::kModel, "").keeps("", 1));
  EXPECT_FALSE(Scan(set, Point::kModel, "").keeps("IMAGE/png; a=b", 1));
  EXPECT_TRUE(Scan(set, Point::kModel, "").keeps("application/pdf", 1));
}

}  // namespace
}  // namespace praxis::filters
