#include "evals/suite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace praxis::evals {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<std::string> names(const Suite& suite) {
  std::vector<std::string> names;
  for (const Variant& variant : suite.variants) names.push_back(variant.name);
  return names;
}

std::string mistake(std::string_view text, const std::string& path = "s.toml") {
  const auto suite = read_suite(text, path);
  return suite ? "" : suite.error().message;
}

constexpr std::string_view kCase = "\n[[cases]]\nid = \"a\"\nprompt = \"A?\"\nexpected = \"a\"\n";

TEST(EvalSuite, Variants_AreEachCombinationOfTheirAlternatives) {
  const auto suite = read_suite(R"(
repeats = 3
seed = 7
[[variants]]
name = "new"
model = ["m:1", "m:2"]
instructions = ["Be brief.", "Be exact."]
[[variants]]
agent = "b.toml"
settings = { limits = { max_steps = 3 } }
)" + std::string(kCase),
                                "folder/s.toml");
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_EQ(suite->name, "s");
  EXPECT_EQ(suite->repeats, 3U);
  EXPECT_EQ(suite->seed, 7);
  EXPECT_EQ(suite->runs(), 15U);
  EXPECT_THAT(names(*suite), ElementsAre("new m:1 instructions-1", "new m:2 instructions-1",
                                         "new m:1 instructions-2", "new m:2 instructions-2", "b.toml"));
  EXPECT_EQ(suite->variants[2].instructions, "Be exact.");
  EXPECT_EQ(suite->variants[2].model, "m:1");
  EXPECT_EQ(suite->variants[4].agent, "folder/b.toml");
}

TEST(EvalSuite, Cases_HaveTheChecksOfTheSuiteAndTheirOwn) {
  const auto suite = read_suite(R"(
checks = [{ max_steps = 4 }]
[[cases]]
id = "a"
prompt = "A?"
expected = "a"
files = ["notes.txt", "https://example.org/a.png"]
tags = ["x", "y"]
weight = 2.5
checks = ["exact", "contains"]
)",
                                "folder/s.toml");
  ASSERT_TRUE(suite) << suite.error().message;
  const EvalCase& test = suite->cases.front();
  EXPECT_THAT(test.checks, SizeIs(3));
  EXPECT_THAT(test.files, ElementsAre("folder/notes.txt", "https://example.org/a.png"));
  EXPECT_THAT(test.tags, ElementsAre("x", "y"));
  EXPECT_EQ(test.weight, 2.5);
  EXPECT_THAT(names(*suite), ElementsAre("default"));
}

TEST(EvalSuite, Csv_HasQuotedCellsAndLists) {
  const auto suite = read_suite(
      "\xEF\xBB\xBFid,prompt,expected,tags,weight,checks\r\n"
      "a,\"Say \"\"a, b\"\"\nnow\",\"a, b\",x;y,2,contains;exact\r\n"
      "b,B?,7,,,number\r\n",
      "cases.csv");
  ASSERT_TRUE(suite) << suite.error().message;
  ASSERT_THAT(suite->cases, SizeIs(2));
  EXPECT_EQ(suite->cases[0].prompt, "Say \"a, b\"\nnow");
  EXPECT_THAT(suite->cases[0].tags, ElementsAre("x", "y"));
  EXPECT_THAT(suite->cases[0].checks, SizeIs(2));
  EXPECT_EQ(suite->cases[0].weight, 2);
  EXPECT_TRUE(std::holds_alternative<checks::Number>(suite->cases[1].checks.front()));
}

TEST(EvalSuite, Jsonl_IsACaseALine) {
  const auto suite = read_suite(
      "{\"id\": 1, \"prompt\": \"A?\", \"expected\": \"a\"}\n\n"
      "{\"id\": \"b\", \"prompt\": \"B?\", \"checks\": [{\"max_steps\": 2}]}",
      "cases.jsonl");
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_EQ(suite->cases[0].id, "1");
  EXPECT_TRUE(std::holds_alternative<checks::Exact>(suite->cases[0].checks.front()));
  EXPECT_THAT(suite->cases[1].checks, SizeIs(1));
}

TEST(EvalSuite, Tags_ChooseCases) {
  const std::string cases = "id,prompt,expected,tags\na,A?,a,x;y\nb,B?,b,y\nc,C?,c,\n";
  auto suite = read_suite(cases, "cases.csv");
  ASSERT_TRUE(suite);
  ASSERT_TRUE(keep_tagged(*suite, {}));
  EXPECT_THAT(suite->cases, SizeIs(3));
  ASSERT_TRUE(keep_tagged(*suite, {"x", "z"}));
  ASSERT_THAT(suite->cases, SizeIs(1));
  EXPECT_EQ(suite->cases[0].id, "a");
  suite = read_suite(cases, "cases.csv");
  const auto refused = keep_tagged(*suite, {"z"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "no case has the tag \"z\"; there are x, y");
}

TEST(EvalSuite, Mistakes_NameTheirPlace) {
  EXPECT_EQ(mistake("name = \"x\""), "s.toml has no cases");
  EXPECT_EQ(mistake("repeat = 2" + std::string(kCase)),
            "s.toml:1:1: \"repeat\" is not known; did you mean \"repeats\"?");
  EXPECT_EQ(mistake("repeats = 0" + std::string(kCase)),
            "s.toml:1:1: \"repeats\" must be an integer from 1 to 1000");
  EXPECT_THAT(mistake(std::string(kCase) + "check = 1"),
              HasSubstr("s.toml:6:1: a case has no \"check\"; did you"));
  EXPECT_THAT(mistake("[[cases]]\nid = \"a\"\nprompt = \"A?\""),
              HasSubstr("a case needs \"expected\" or \"checks\""));
  EXPECT_THAT(mistake(std::string(kCase) + std::string(kCase)), HasSubstr("s.toml has two cases \"a\""));
  EXPECT_THAT(mistake("[[variants]]\nmodel = \"m:1\"\n[[variants]]\nmodel = \"m:1\"" + std::string(kCase)),
              HasSubstr("two variants \"m:1\""));
  EXPECT_THAT(mistake("[[variants]]\nmodel = 7" + std::string(kCase)),
              HasSubstr("s.toml:2:1: \"model\" must be a string or a list of them"));
  EXPECT_THAT(mistake("[[variants]]\nsettings = { limit = {} }" + std::string(kCase)),
              HasSubstr("did you mean \"limits\"?"));
  EXPECT_EQ(mistake("id,prompt,expected\na,A?,a\nb,\"B?,b\n", "c.csv"),
            "c.csv:3: a quote of the row does not end, or text follows it");
  EXPECT_EQ(mistake("id,prompt,expected\na,A?\n", "c.csv"), "c.csv:2: the row has 2 cells, the header 3");
  EXPECT_THAT(mistake("{\"id\": 1}\n", "c.jsonl"), HasSubstr("c.jsonl:1: a case needs a \"prompt\""));
  EXPECT_THAT(mistake("\n{\"id\": 1\n", "c.jsonl"), HasSubstr("c.jsonl:2: "));
}

}  // namespace
}  // namespace praxis::evals
