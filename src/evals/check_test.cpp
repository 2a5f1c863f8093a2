#include "evals/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "praxis/json/json.hpp"

namespace praxis::evals {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

AgentResult answered(std::string text, const std::vector<std::string>& tools = {}) {
  AgentResult result;
  result.success = true;
  result.reason = StopReason::kFinished;
  result.text = std::move(text);
  for (const std::string& tool : tools) {
    ActionResult action;
    action.tool = tool;
    result.actions.push_back(std::move(action));
  }
  return result;
}

/// Why the result does not meet the check; empty if it does.
std::string problem(const std::string& check, const AgentResult& result, const Json& expected = nullptr) {
  const auto read = read_check(parse_json(check).value(), expected);
  return read ? problem_of(*read, result).value_or("") : "not read: " + read.error().message;
}

std::string refusal(const std::string& check, const Json& expected = nullptr) {
  const auto read = read_check(parse_json(check).value(), expected);
  return read ? "" : read.error().message;
}

TEST(EvalCheck, Texts) {
  EXPECT_EQ(problem(R"("exact")", answered(" five\n"), "five"), "");
  EXPECT_EQ(problem(R"("exact")", answered("Five"), "five"), R"(exact: the answer is "Five", not "five")");
  EXPECT_EQ(problem(R"("exact")", answered("5"), 5), "");
  EXPECT_EQ(problem(R"({"contains": ["tea", "cup"]})", answered("a cup of tea")), "");
  EXPECT_THAT(problem(R"({"contains": ["tea", "pot"]})", answered("tea")),
              StartsWith(R"(contains: "pot" is)"));
  EXPECT_EQ(problem(R"({"pattern": "^a.c$"})", answered("abc")), "");
  EXPECT_THAT(problem(R"({"pattern": "^a.c$"})", answered("abcd")), StartsWith("pattern: "));
}

TEST(EvalCheck, Json_FollowsItsSchema) {
  const std::string check = R"({"schema": {"type": "object", "required": ["city"]}})";
  EXPECT_EQ(problem(check, answered(R"({"city": "Oslo"})")), "");
  EXPECT_THAT(problem(check, answered("{}")), HasSubstr("city"));
  EXPECT_THAT(problem(check, answered("Oslo")), HasSubstr("not JSON"));
}

// The sentences of the paper that introduced ROUGE-L (Lin 2004).
TEST(EvalCheck, Similarity_IsThatOfTheWorkedExamples) {
  const std::string reference = "police killed the gunman";
  EXPECT_DOUBLE_EQ(similarity(SimilarityMeasure::kRougeL, "Police kill the gunman.", reference), 0.75);
  EXPECT_DOUBLE_EQ(similarity(SimilarityMeasure::kRougeL, "The gunman kill police", reference), 0.5);
  EXPECT_DOUBLE_EQ(similarity(SimilarityMeasure::kTokenF1, "The gunman kill police", reference), 0.75);
  EXPECT_DOUBLE_EQ(similarity(SimilarityMeasure::kTokenF1, "a a a", "a b"), 0.4);
  EXPECT_EQ(similarity(SimilarityMeasure::kTokenF1, "", reference), 0);
  EXPECT_EQ(similarity(SimilarityMeasure::kRougeL, "...", ""), 1);
}

TEST(EvalCheck, Similarity_HasAMeasureAndABound) {
  EXPECT_EQ(problem(R"("similarity")", answered("A cup of green tea"), "a cup of green tea"), "");
  EXPECT_EQ(problem(R"({"similarity": true, "at_least": 0.9, "measure": "rouge_l"})",
                    answered("tea of a cup"), "a cup of tea"),
            "similarity: 0.500 is below 0.9; the answer is \"tea of a cup\"");
  EXPECT_EQ(refusal(R"({"similarity": "x", "measure": "cosine"})"),
            "\"measure\" must be token_f1 or rouge_l");
  EXPECT_EQ(refusal(R"({"similarity": "x", "at_least": 2})"), "\"at_least\" must be a number from 0 to 1");
}

TEST(EvalCheck, ProgramAndJudge_SayWhatTheyNeed) {
  EXPECT_EQ(refusal(R"({"program": ["python3", "check.py"], "timeout": "5s"})"), "");
  EXPECT_EQ(refusal(R"({"program": []})"),
            R"("program" must be a program, or a list of it and its arguments)");
  EXPECT_EQ(refusal(R"({"program": "check", "timeout": 5})"),
            R"("timeout" must be a duration such as "30s")");
  EXPECT_EQ(refusal(R"({"judge": "It is polite."})"), "");
  EXPECT_EQ(refusal(R"({"judge": " "})"), R"("judge" must be the rubric, as a string)");
  EXPECT_EQ(refusal(R"("judge")", "x"), R"(the check "judge" needs a value: {judge = ...})");
}

TEST(EvalCheck, Number_IsTheLastOfTheAnswer) {
  EXPECT_EQ(problem(R"("number")", answered("2 + 3 = 5."), 5), "");
  EXPECT_EQ(problem(R"({"number": 1234.5, "within": 0.5})", answered("it is 1,234")), "");
  EXPECT_EQ(problem(R"({"number": true, "within": 1})", answered("-2e1"), -21), "");
  EXPECT_EQ(problem(R"({"number": 5, "within": 1})", answered("7")), "number: 7 is not within 1 of 5");
  EXPECT_THAT(problem(R"({"number": 5})", answered("five")), HasSubstr("has no number"));
}

TEST(EvalCheck, Tools_AreComparedByTheirOrder) {
  const AgentResult result = answered("", {"search", "open", "search"});
  EXPECT_EQ(problem(R"({"tools": ["search", "search"]})", result), "");
  EXPECT_EQ(problem(R"({"tools": ["open", "open"]})", result),
            "tools: the run called search, open, search, not open, open");
  EXPECT_EQ(problem(R"({"tools": ["search", "open", "search"], "order": "exactly"})", result), "");
  EXPECT_NE(problem(R"({"tools": ["search", "open"], "order": "exactly"})", result), "");
  EXPECT_EQ(problem(R"({"tools": ["open", "search"], "order": "any_order"})", result), "");
  EXPECT_NE(problem(R"({"tools": ["open", "open"], "order": "any_order"})", result), "");
  EXPECT_EQ(problem(R"({"never": ["shell"]})", result), "");
  EXPECT_EQ(problem(R"({"never": ["shell", "open"]})", result), "never: the run called open");
}

TEST(EvalCheck, Bounds_IncludeTheirValue) {
  AgentResult result = answered("");
  result.steps = 3;
  result.duration = Millis{1000};
  result.usage.cost.value = 4000;
  result.usage_children.cost.value = 1000;
  EXPECT_EQ(problem(R"({"max_steps": 3})", result), "");
  EXPECT_EQ(problem(R"({"max_steps": 2})", result), "max_steps: the run took 3 steps, more than 2");
  EXPECT_EQ(problem(R"({"max_time": "1s"})", result), "");
  EXPECT_NE(problem(R"({"max_time": "999ms"})", result), "");
  EXPECT_EQ(problem(R"({"max_usd": 0.005})", result), "") << "with that of sub-agents";
  EXPECT_NE(problem(R"({"max_usd": 0.0049})", result), "");
}

TEST(EvalCheck, Mistakes_SayWhatToWrite) {
  EXPECT_EQ(refusal(R"("exactt")"), R"(there is no check "exactt"; did you mean "exact"?)");
  EXPECT_EQ(refusal(R"("exact")"), R"(the check "exact" needs "expected" in the case)");
  EXPECT_EQ(refusal(R"("tools")", "x"), R"(the check "tools" needs a value: {tools = ...})");
  EXPECT_THAT(refusal(R"({"exact": "a", "within": 1})"), HasSubstr(R"("within" does not belong to "exact")"));
  EXPECT_THAT(refusal(R"({"pattern": "("})"), HasSubstr("RE2"));
  EXPECT_THAT(refusal(R"({"schema": {"type": 7}})"), StartsWith(R"("schema": )"));
  EXPECT_THAT(refusal(R"({"tools": ["a"], "order": "up"})"), HasSubstr("in_order, exactly or any_order"));
  EXPECT_NE(refusal(R"({"max_time": 30})"), "");
  EXPECT_NE(refusal(R"({"max_steps": 0.5})"), "");
  EXPECT_NE(refusal(R"({"max_usd": -1})"), "");
  EXPECT_NE(refusal(R"("number")", "five"), "");
  EXPECT_NE(refusal("{}"), "");
}

}  // namespace
}  // namespace praxis::evals
